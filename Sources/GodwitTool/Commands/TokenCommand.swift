import ArgumentParser
import Foundation
import GodwitServer
import GodwitTree

/// Makes tokens for tests and small installations, and looks into them.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make signed tokens (JWT), and look into them; never needs the network.",
        discussion: """
            EXAMPLES
              godwit token create --key private.jwk --subject ann --issuer me \\
                --write 'ann.*' --expires-in 12h > ann.jwt
              godwit token inspect ann.jwt --jwks jwks.json --issuer me
            """,
        subcommands: [TokenCreate.self, TokenInspect.self]
    )
}

/// Makes a token.
struct TokenCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Sign a token with a private key.",
        discussion: """
            The key is a JSON Web Key with its private part: RSA, EC P-256, OKP Ed25519, or
            oct with 32 bytes at least. Its kid is that of the key in the server's set.

            EXAMPLES
              godwit token create --key private.jwk --subject ann --issuer me \\
                --write 'ann.*'
              godwit token create --key private.jwk --subject backup --issuer me \\
                --audience godwit --read '*' --expires-in 15m
            """
    )

    @Option(help: "A file with a private JSON Web Key; - for standard input.") var key: InputFile
    @Option(help: "Who the token is for.") var subject: String
    @Option(help: "Who signs it: what the server expects by --issuer.") var issuer: String
    @Option(help: "For which server it is, if that is started with --audience.")
    var audience: String?
    @OptionGroup var rights: RightsArguments
    @Option(help: "For how long it is good: 12h, 15m; a number alone means days.")
    var expiresIn = Lifetime(hours: 1)
    @Flag(help: "Print one object.") var json = false

    func run() async throws {
        let signer = try await TokenSigner(privateKey: key.value())
        let claims = TokenSigner.Claims(
            subject: subject,
            rights: try rights.rights(),
            issuer: issuer,
            audience: audience
        )
        let now = Int64(Date().timeIntervalSince1970)
        let token = try signer.token(claims, at: now, lifetime: expiresIn.seconds)
        guard json else { return try Terminal.print(token) }
        try Terminal.print(
            json: ["token": .string(Key(token)), "expires": .int(now + expiresIn.seconds)]
        )
    }
}

/// Shows a token.
struct TokenInspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show what a token says, and whether a server would take it.",
        discussion: """
            Without --jwks, nothing is checked. Exit code 2 when the server would refuse the
            token.

            EXAMPLES
              godwit token inspect ann.jwt
              godwit token inspect - --jwks jwks.json --issuer me < ann.jwt
            """
    )

    @Argument(help: "A file with the token; - for standard input.")
    var token = InputFile(argument: "-")
    @OptionGroup var rules: TokenRulesArguments
    @Flag(help: "Print one object.") var json = false

    func run() async throws {
        try rules.check()
        try InputFile.requireOneStandardInput(token, rules.jwks.map { InputFile(argument: $0) })
        let text = String(decoding: try token.bytes(), as: UTF8.self)
        let rules = try rules.rules.map { rules in
            guard !rules.keySet.contains("://") else {
                throw ValidationError("--jwks is a file here: fetch \(rules.keySet) into one.")
            }
            return (rules, keySet: try InputFile(argument: rules.keySet).bytes())
        }
        let inspection = try await TokenInspection(
            text.trimmingCharacters(in: .whitespacesAndNewlines),
            rules,
            at: Date().timeIntervalSince1970
        )
        var map: Value.Map = ["header": inspection.header, "claims": inspection.claims]
        if rules != nil { map["isAccepted"] = .bool(inspection.refusal == nil) }
        map["refusal"] = inspection.refusal.map { .string(Key($0)) }
        if json {
            try Terminal.print(json: .map(map))
        } else {
            try Terminal.print("header  \(inspection.header.jsonText())")
            try Terminal.print("claims  \(inspection.claims.jsonText(indentation: 2))")
            try Terminal.print(verdict(inspection, isChecked: rules != nil))
        }
        if inspection.refusal != nil { throw ExitCode(2) }
    }

    private func verdict(_ inspection: TokenInspection, isChecked: Bool) -> String {
        guard isChecked else { return "not checked: give --jwks and --issuer" }
        return inspection.refusal.map { "refused: \($0)" } ?? "accepted"
    }
}

/// Which tokens a server takes.
struct TokenRulesArguments: ParsableArguments {
    @Option(
        help: """
            A JSON Web Key Set, the keys of tokens: a file that is read again when it changes, or an \
            https address.
            """
    )
    var jwks: String?
    @Option(help: "What the claim iss of a token has to be.") var issuer: String?
    @Option(help: "What the claim aud has to be; without it, a token has none.")
    var audience: String?

    var rules: TokenRules? {
        guard let jwks, let issuer else { return nil }
        return TokenRules(keySet: jwks, issuer: issuer, audience: audience)
    }

    /// Refuses a part of the rules.
    ///
    /// It is no `validate()`, because a server takes its options from several places.
    func check() throws {
        guard (jwks == nil) == (issuer == nil), audience == nil || jwks != nil else {
            throw ValidationError("--jwks and --issuer go together, and --audience goes with them.")
        }
    }
}
