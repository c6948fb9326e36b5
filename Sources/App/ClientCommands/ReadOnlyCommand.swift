/// A command that changes nothing, neither on the gateway nor on this machine. Mistyped commands are completed to these; to one
/// that acts only where a single letter was wrong (``CommandSuggestion``).
package protocol ReadOnlyCommand {}
