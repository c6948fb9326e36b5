import Glibc
import ParleyCommands

@main
struct Parley {
    static func main() async {
        // A gateway that goes away in the middle of a request is an error to report, not a reason to die.
        signal(SIGPIPE, SIG_IGN)
        exit(await ParleyProgram.run(Array(CommandLine.arguments.dropFirst())))
    }
}
