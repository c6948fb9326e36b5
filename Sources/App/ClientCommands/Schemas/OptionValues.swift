public import ArgumentParser
public import JSONSchema

// The raw values of the module's types are the words of the command line.
extension Dialect: ExpressibleByArgument {}
extension NodeAccessChoice: ExpressibleByArgument {}
extension SchemaComparison.Mode: ExpressibleByArgument {}
