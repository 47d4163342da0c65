extension MediaType {
    /// The media type of files with an extension, in upper or lower case; `nil` if it is not a common one.
    ///
    /// The table is the same on all platforms. The types are registered with IANA where there is a registered one.
    init?(fileExtension: String) {
        // No extension in the table is longer.
        guard fileExtension.utf8.count <= 5, let type = Self.types[fileExtension.lowercased()] else { return nil }
        self.init(stringLiteral: type)
    }

    // Strings, because each media type would be 260 bytes of machine code.
    /// Text has no `charset` parameter, because nothing is known about the content.
    private static let types: [String: String] = [
        // Images
        "avif": "image/avif", "bmp": "image/bmp", "gif": "image/gif", "heic": "image/heic", "heif": "image/heif",
        "ico": "image/vnd.microsoft.icon", "jpeg": "image/jpeg", "jpg": "image/jpeg", "png": "image/png",
        "svg": "image/svg+xml", "tif": "image/tiff", "tiff": "image/tiff", "webp": "image/webp",
        // Video
        "avi": "video/x-msvideo", "m4v": "video/x-m4v", "mkv": "video/matroska", "mov": "video/quicktime",
        "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg", "webm": "video/webm",
        // Audio
        "aac": "audio/aac", "aif": "audio/x-aiff", "aiff": "audio/x-aiff", "flac": "audio/flac", "m4a": "audio/mp4",
        "mp3": "audio/mpeg", "ogg": "audio/ogg", "opus": "audio/ogg", "wav": "audio/wav",
        // Text
        "css": "text/css", "csv": "text/csv", "htm": "text/html", "html": "text/html", "ics": "text/calendar",
        "js": "text/javascript", "md": "text/markdown", "mjs": "text/javascript", "txt": "text/plain",
        "vcf": "text/vcard",
        // Data
        "json": "application/json", "jsonl": "application/x-ndjson", "ndjson": "application/x-ndjson",
        "wasm": "application/wasm", "xml": "application/xml", "yaml": "application/yaml", "yml": "application/yaml",
        // Archives
        "7z": "application/x-7z-compressed", "gz": "application/gzip", "tar": "application/x-tar",
        "tgz": "application/gzip", "zip": "application/zip", "zst": "application/zstd",
        // Documents
        "doc": "application/msword", "epub": "application/epub+zip", "pdf": "application/pdf",
        "ppt": "application/vnd.ms-powerpoint", "rtf": "application/rtf", "xls": "application/vnd.ms-excel",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "odp": "application/vnd.oasis.opendocument.presentation",
        "ods": "application/vnd.oasis.opendocument.spreadsheet", "odt": "application/vnd.oasis.opendocument.text",
        // Fonts
        "otf": "font/otf", "ttf": "font/ttf", "woff": "font/woff", "woff2": "font/woff2",
    ]
}
