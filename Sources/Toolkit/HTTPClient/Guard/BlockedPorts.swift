/// Ports above 1023 whose services could be made to act on bytes that happen to be an HTTP request.
///
/// Below 1024 only 80 and 443 are permitted, which covers SMTP, SSH, LDAP and their kind. The ephemeral range of Linux
/// (from 32768) is left alone: whatever listens there was not put there by a service's convention.
enum BlockedPorts {
    private static let above1023: Set<UInt16> = [
        1433, 1434,  // SQL Server
        1521, 1522,  // Oracle
        1883,  // MQTT
        2049,  // NFS
        2181,  // ZooKeeper
        2222,  // SSH, commonly
        2375, 2376,  // Docker
        2379, 2380,  // etcd
        2525, 2587,  // SMTP submission, commonly
        3128,  // HTTP proxies
        3306, 33060,  // MySQL
        3389,  // remote desktop
        4222,  // NATS
        4369,  // Erlang port mapper
        5432, 5433, 6432,  // PostgreSQL and its pooler
        5672, 5671,  // AMQP
        5900, 5901,  // VNC
        5984,  // CouchDB
        5985, 5986,  // Windows remote management
        6000, 6001,  // X11
        6379, 6380, 16379,  // Redis
        9042, 9160,  // Cassandra
        8086,  // InfluxDB
        9092, 9093,  // Kafka
        9200, 9300,  // Elasticsearch
        10250, 10255,  // kubelet
        11211,  // memcached
        26257,  // CockroachDB
        27017, 27018, 27019,  // MongoDB
    ]

    static func permit(_ port: UInt16) -> Bool {
        port == 443 || port == 80 || (port >= 1024 && !above1023.contains(port))
    }
}
