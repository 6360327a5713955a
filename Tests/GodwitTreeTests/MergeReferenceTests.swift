import GodwitTree
import Testing

/// Records that tell of other things, such as an author.
@Suite struct MergeReferenceTests {
    @Test(arguments: ["author", "user", "room"] as [Key])
    func `a thing that records tell of does not name them`(key: Key) {
        func book(_ title: Value, _ author: Value, isRead: Bool = false) -> Value {
            var book: Value.Map = ["title": title, "read": .bool(isRead)]
            book[key] = ["id": author, "name": author]
            return .map(book)
        }
        let emma = book("Emma", "Austen")
        let eyre = book("Jane Eyre", "Bronte")
        let found = Merge(
            base: [emma, eyre],
            ours: [eyre, book("Persuasion", "Austen")],
            theirs: [book("Emma", "Austen", isRead: true), eyre]
        )
        #expect(found.conflicts.contains { !$0.isNotice })
        #expect(found.value.list?.contains(book("Persuasion", "Austen", isRead: true)) == false)

        let swapped = Merge(
            base: [emma, eyre],
            ours: [book("Emma", "Bronte"), book("Jane Eyre", "Austen")],
            theirs: [emma, book("Jane Eyre", "Bronte", isRead: true)]
        )
        #expect(
            swapped.value == [book("Emma", "Bronte"), book("Jane Eyre", "Austen", isRead: true)]
        )
    }
}
