// What a call site needs stands behind one import, on every platform. That is true for the files of this module, too:
// none of them imports these again, nor has an `#if` of its own for the platform's name of URLSession's module.
@_exported import Foundation
@_exported import HTTPTypes
// This makes the members of swift-log's types visible, as in `defaultLogger?.logLevel = .debug`. Its `Logger` is not
// exported: it would be ambiguous in files that import os.
@_exported import struct Logging.SwiftLogNoOpLogHandler

#if canImport(FoundationNetworking)
@_exported import FoundationNetworking
#endif
