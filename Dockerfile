FROM swift:6.3.1-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        pkg-config libmicrohttpd-dev libjansson-dev libcurl4-openssl-dev libssl-dev libsqlite3-dev libyaml-dev \
        zlib1g-dev libjemalloc-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Package.swift ./
RUN swift package resolve
COPY openapi.yaml ./
COPY docs docs
COPY Sources Sources
COPY Tests Tests
COPY Examples Examples
RUN swift build -c release --static-swift-stdlib -debug-info-format none -Xswiftc -enforce-exclusivity=unchecked \
        --product parley \
    && strip .build/release/parley

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        libmicrohttpd12 libjansson4 libcurl4 libssl3 libsqlite3-0 libyaml-0-2 zlib1g libjemalloc2 ca-certificates curl \
        libpq5 libnats3.4 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --user-group --home-dir /var/lib/parley --create-home --uid 10001 parley \
    && chmod 0700 /var/lib/parley
COPY --from=build /src/.build/release/parley /usr/bin/parley
USER 10001:10001
WORKDIR /var/lib/parley
ENV PARLEY_LISTEN=0.0.0.0:8080 PARLEY_DATA=/var/lib/parley
VOLUME /var/lib/parley
EXPOSE 8080
STOPSIGNAL SIGTERM
# Where the settings say, which it takes from the environment and PARLEY_CONFIG as the gateway does: flags after `serve`
# would be unknown to it. The certificate is made out to a name of the world's; nothing secret is sent.
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s \
    CMD ["sh", "-c", "exec curl --fail --silent --insecure --output /dev/null \"$(parley config url)/readyz\""]
ENTRYPOINT ["parley"]
CMD ["serve"]
