@_exported public import GodwitConnectors
@_exported public import GodwitQueue
@_exported public import GodwitReplication
@_exported public import GodwitStore
