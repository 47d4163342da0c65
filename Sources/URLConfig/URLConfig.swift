// What a call site needs stands behind one import, on every platform. That is true for the files of this module, too:
// none of them imports these again, nor has an `#if` of its own for the platform's name of URLSession's module.
@_exported import Foundation
@_exported import HTTPTypes

#if canImport(FoundationNetworking)
@_exported import FoundationNetworking
#endif
