public import ArgumentParser
public import JSONSchema

// The module's own words are the words of the command line.
extension Dialect: ExpressibleByArgument {}
extension NodeAccessChoice: ExpressibleByArgument {}
extension SchemaComparison.Mode: ExpressibleByArgument {}
