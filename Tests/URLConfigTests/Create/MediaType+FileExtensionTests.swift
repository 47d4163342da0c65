import Foundation
import Testing

@testable import URLConfig

/// The media types of files, which are the same on all platforms.
@Suite struct MediaTypeFileExtensionTests {
    @Test(arguments: [
        ("png", "image/png"), ("jpg", "image/jpeg"), ("jpeg", "image/jpeg"), ("heic", "image/heic"),
        ("svg", "image/svg+xml"), ("mp4", "video/mp4"), ("mov", "video/quicktime"), ("mp3", "audio/mpeg"),
        ("m4a", "audio/mp4"), ("txt", "text/plain"), ("html", "text/html"), ("csv", "text/csv"),
        ("json", "application/json"), ("xml", "application/xml"), ("pdf", "application/pdf"),
        ("zip", "application/zip"), ("gz", "application/gzip"), ("wasm", "application/wasm"), ("woff2", "font/woff2"),
        ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ])
    func `a common extension has its media type, in any case`(name: String, type: String) {
        #expect(MediaType(fileExtension: name)?.description == type)
        #expect(MediaType(fileExtension: name.uppercased())?.description == type)
    }

    @Test(arguments: ["", " ", ".png", "png ", "exe", "pn\u{67}\u{301}", "image/png", "\u{0}", "\u{130}co"])
    func `any other extension has none`(name: String) {
        #expect(MediaType(fileExtension: name) == nil)
    }

    @Test func `a megabyte of extension has none`() {
        #expect(MediaType(fileExtension: String(repeating: "p\u{301}", count: 500_000)) == nil)
    }
}
