// The whole of Godwit for an app. `GodwitTree` comes along because its values, keys and deltas
// are in the signatures of all others.
@_exported public import GodwitConnectors
@_exported public import GodwitQueue
@_exported public import GodwitReplication
@_exported public import GodwitStore
@_exported public import GodwitTree
