public import ArgumentParser
public import JSONSchema

// The raw values of these types are the words that the command line accepts.
extension Dialect: ExpressibleByArgument {}
extension NodeAccessChoice: ExpressibleByArgument {}
extension SchemaComparison.Mode: ExpressibleByArgument {}
