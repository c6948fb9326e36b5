/// Facts about the product.
public enum Product {
    /// The version, as `parley --version`, logs, backups and `User-Agent` show it.
    public static let version = "0.1.0"
}
