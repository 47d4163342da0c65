// A user needs one import on every platform. The same is true for the files of this module: they do not import these
// modules again, and need no `#if` for the module that URLSession is in.
@_exported import Foundation
@_exported import HTTPTypes

// This makes the members of swift-log's types visible, as in `defaultLogger?.logLevel = .debug`. Its `Logger` is not
// exported: it would be ambiguous in files that import os.
@_exported import struct Logging.SwiftLogNoOpLogHandler

#if canImport(FoundationNetworking)
@_exported import FoundationNetworking
#endif
