/// The version of the product.
public enum Product {
    /// The version that `parley --version`, logs, backups and `User-Agent` headers contain.
    public static let version = "0.1.0"
}
