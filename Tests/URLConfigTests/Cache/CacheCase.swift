import URLConfigTesting

@testable import URLConfig

/// A case of http-tests/cache-tests, whose origin and client are in this process.
struct CacheCase: Sendable {
    let id: String
    /// `required`, `optimal` or `check`.
    let kind: String
    /// The cases without which this one means nothing.
    let dependencies: [String]
    private let scripts: [JSON]

    /// - Returns: `nil` for a case about another kind of cache, or about interim responses, which no transport reports.
    init?(_ json: JSON) {
        guard !["cdn_only", "browser_only", "browser_skip"].contains(where: { json[$0].isTrue }) else { return nil }
        id = json["id"].text ?? ""
        kind = json["kind"].text ?? "required"
        dependencies = json["depends_on"].list.compactMap(\.text)
        scripts = json["requests"].list
        let interim = ["interim_responses", "expected_interim_responses"]
        if scripts.contains(where: { script in interim.contains { script[$0] != .null } }) { return nil }
    }

    /// Runs the case.
    ///
    /// - Returns: Why it is not passed; `nil` if it is.
    func failure(_ cache: HTTPCache?, in session: URLSession) async -> String? {
        let origin = Origin(scripts: scripts)
        var last = Received()
        for (index, script) in scripts.enumerated() {
            let response = await origin.response(to: index + 1, after: last, cache, in: session)
            await cache?.finishRevalidations()
            if let reason = origin.failure(of: index + 1, response) { return "request \(index + 1): \(reason)" }
            if script["pause_after"].isTrue { origin.clock.move(by: .seconds(3)) }
            last = response
        }
        let numbers = origin.seen.withLock { $0.map(\.number) }
        return Set(numbers).count == numbers.count ? nil : "the origin saw \(numbers): a request was repeated"
    }
}

/// What the client received; nothing if the call threw an error.
private struct Received {
    var status: Int?
    var fields = HTTPFields()
    var body = ""

    subscript(name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }
}

/// The server and the client of a case.
private struct Origin: Sendable {
    /// A request that reached the server.
    struct Seen {
        let number: Int
        let request: URLRequest
        /// What was sent for it, without what is not compared.
        var sent = HTTPFields()
        var fields = HTTPFields()
    }

    let scripts: [JSON]
    let clock = TestClock()
    let id = UUID().uuidString
    let seen = Locked<[Seen]>([])

    /// Sends a request of the case.
    func response(
        to number: Int, after last: Received, _ cache: HTTPCache?, in session: URLSession
    ) async -> Received {
        let script = scripts[number - 1]
        let file = script["filename"].text.map { "/\($0)" } ?? ""
        let query = script["query_arg"].text.map { "?\($0)" } ?? ""
        guard let url = URL(string: "http://origin.test/test/\(id)\(file)\(query)") else { return Received() }
        var request = URLRequest(url: url)
        request.httpMethod = script["request_method"].text ?? "GET"
        request.httpBody = script["request_body"].text.map { Data($0.utf8) }
        let then = script["magic_ims"].isTrue ? last["Server-Now"].flatMap { Double($0) }.map { $0 / 1000 } : nil
        let now = then.map { Date(timeIntervalSince1970: $0) } ?? clock.date
        for field in script["request_headers"].list {
            request.addValue(value(of: field.list, now), forHTTPHeaderField: field.list[0].text ?? "")
        }
        request.setValue(id, forHTTPHeaderField: "Test-ID")
        request.setValue("\(number)", forHTTPHeaderField: "Req-Num")
        let response = try? await session.response(for: request, config: .silent) {
            ($0.cache, $0.clock) = (cache, clock)
            $0.redirects = script["redirect"].text == "manual" ? .none : .follow
            // No transport of an app, with which no encoded response is stored on Linux.
            $0.transport = Transport(identity: clock) { try send($0.urlRequest) }
        }
        guard let response else { return Received() }
        let body = String(decoding: response.data, as: UTF8.self)
        return Received(status: response.status.code, fields: response.headerFields, body: body)
    }

    /// The value of a field, in which a number is a date.
    private func value(of field: [JSON], _ now: Date) -> String {
        guard let seconds = field[1].number else { return field[1].text ?? "" }
        return now.addingTimeInterval(Double(seconds)).httpDate ?? ""
    }

    private func send(_ request: URLRequest) throws -> Transport.Response {
        guard let number = request.field("Req-Num").flatMap({ Int($0) }), scripts.indices.contains(number - 1)
        else { throw URLError(.badURL) }
        let script = scripts[number - 1]
        clock.move(by: .seconds(script["response_pause"].number ?? 0))
        var new = Seen(number: number, request: request)
        let base = request.url?.path() ?? ""
        for field in script["response_headers"].list.map(\.list) {
            guard let name = field[0].text.flatMap({ HTTPField.Name($0) }) else { continue }
            var value = value(of: field, clock.date)
            if script["magic_locations"].isTrue, [.location, .contentLocation].contains(name) {
                value = value.isEmpty ? base : "\(base)/\(value)"
            }
            new.fields.append(HTTPField(name: name, value: value))
            if field.count < 3 || field[2].isTrue { new.sent.append(HTTPField(name: name, value: value)) }
        }
        let (numbers, previous) = seen.withLock { seen in
            defer { seen.append(new) }
            return (seen.map(\.number) + [number], seen.last { $0.number == number - 1 })
        }
        if script["disconnect"].isTrue { throw URLError(.networkConnectionLost) }
        var fields = new.fields
        let own = [
            "Server-Base-Url": base, "Server-Request-Count": "\(numbers.count)", "Client-Request-Count": "\(number)",
            "Server-Now": "\(Int(clock.date.timeIntervalSince1970 * 1000))",
            "Request-Numbers": numbers.map { "\($0)" }.joined(separator: " "),
        ]
        for (name, value) in own { if let name = HTTPField.Name(name) { fields[name] = value } }
        fields[.contentType] = fields[.contentType] ?? "text/plain"
        let isCondition = script["expected_type"].text?.hasSuffix("validated") == true
        let conditions: [(String, HTTPField.Name)] = [("If-None-Match", .eTag), ("If-Modified-Since", .lastModified)]
        let isMet = conditions.contains { name, validator in
            previous?.fields[validator].map { $0 == request.field(name) } ?? false
        }
        if isCondition { return .init(status: .init(code: isMet ? 304 : 999), headerFields: fields) }
        let status = script["response_status"].list.first?.number ?? 200
        let isEmpty = request.httpMethod == "HEAD" || [204, 304].contains(status)
        let body = isEmpty ? "" : script["response_body"].text ?? id
        return .init(status: .init(code: status), headerFields: fields, body: .init(Data(body.utf8)))
    }

    /// What is wrong with a response; `nil` for nothing.
    func failure(of number: Int, _ response: Received) -> String? {
        let script = scripts[number - 1]
        let seen = seen.withLock { $0.first { $0.number == number } }
        let reasons = [
            failure(of: script["expected_type"].text, number, response, seen?.request),
            failure(ofStatus: script, response), failure(ofBody: script, response),
            failure(script, "response_headers", response) { response[$0] },
            seen.flatMap { seen in failure(script, "request_headers", response) { seen.request.field($0) } },
            script["expected_method"].text.flatMap { $0 == seen?.request.httpMethod ? nil : "the method is not \($0)" },
        ]
        if let reason = reasons.compactMap({ $0 }).first { return reason }
        let names = Set((seen?.sent ?? [:]).map(\.name)).subtracting([.date])
        return names.first { response.fields[$0] != seen?.sent[$0] }.map {
            "\($0) is \(response.fields[$0] ?? "missing"), was sent as \(seen?.sent[$0] ?? "")"
        }
    }

    private func failure(
        of type: String?, _ number: Int, _ response: Received, _ request: URLRequest?
    ) -> String? {
        let count = response["Server-Request-Count"].flatMap { Int($0) }
        switch type {
        case "cached":
            return count.map { $0 < number } ?? (response.status == 304) ? nil : "it does not come from the cache"
        case "not_cached": return count == number && request != nil ? nil : "it comes from the cache, or is an error"
        case "etag_validated": return request?.field("If-None-Match") == nil ? "no If-None-Match was sent" : nil
        case "lm_validated": return request?.field("If-Modified-Since") == nil ? "no If-Modified-Since was sent" : nil
        default: return nil
        }
    }

    private func failure(ofStatus script: JSON, _ response: Received) -> String? {
        if response.status == 999 { return "a condition was expected" }
        if script.has("expected_status"), script["expected_status"] == .null { return nil }
        let expected = script["expected_status"].number ?? script["response_status"].list.first?.number ?? 200
        guard response.status != expected else { return nil }
        return "the status is \(response.status.map { "\($0)" } ?? "missing"), not \(expected)"
    }

    private func failure(ofBody script: JSON, _ response: Received) -> String? {
        if script["check_body"] == .bool(false) || [204, 304].contains(response.status) { return nil }
        if script["request_method"].text == "HEAD" { return nil }
        if script.has("expected_response_text"), script["expected_response_text"] == .null { return nil }
        let expected = script["expected_response_text"].text ?? script["response_body"].text ?? id
        return response.body == expected ? nil : "the body is '\(response.body)', not '\(expected)'"
    }

    /// Compares fields with what must be there and what must not.
    private func failure(
        _ script: JSON, _ kind: String, _ response: Received, _ value: (String) -> String?
    ) -> String? {
        let now = response["Server-Now"].flatMap { Double($0) }.map { Date(timeIntervalSince1970: $0 / 1000) }
        func isThere(_ field: JSON) -> Bool {
            guard let name = field.text ?? field.list.first?.text, let found = value(name) else { return false }
            guard field.list.count > 1 else { return true }
            switch field.list[1].text {
            case "=" where field.list.count > 2: return found == field.list[2].text.flatMap { value($0) }
            case ">" where field.list.count > 2: return Int(found) ?? 0 > field.list[2].number ?? 0
            default: return found == self.value(of: field.list, now ?? clock.date)
            }
        }
        let missing = script["expected_\(kind)"].list.filter { !isThere($0) }
        let unwanted = script["expected_\(kind)_missing"].list.filter(isThere)
        guard let wrong = missing.first ?? unwanted.first else { return nil }
        let name = wrong.text ?? wrong.list.first?.text ?? ""
        return "\(missing.isEmpty ? "unwanted" : "expected"): \(wrong.shown), found: \(value(name) ?? "nothing")"
    }
}

/// A value of a JSON document that has no type of its own.
enum JSON: Decodable, Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Int)
    case text(String)
    case list([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? value.decode(Int.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([JSON].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: JSON].self))
        }
    }

    /// A member of an object; `null` if there is none.
    subscript(name: String) -> JSON { if case .object(let members) = self { members[name] ?? .null } else { .null } }
    var isTrue: Bool { self == .bool(true) }
    var number: Int? { if case .number(let number) = self { number } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var list: [JSON] { if case .list(let list) = self { list } else { [] } }
    var shown: String { text ?? number.map { "\($0)" } ?? list.map(\.shown).joined(separator: " ") }

    func has(_ name: String) -> Bool { if case .object(let members) = self { members[name] != nil } else { false } }
}
