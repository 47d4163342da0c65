@main
enum Service {
    static func main() {
        print("This example needs the server transport: swift run --traits AsyncHTTPClient service --help")
    }
}
