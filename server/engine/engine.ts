// What the service runs its scripts on, wherever it comes from.

export interface Engine {
  /** For a Redis client. May hold a password: never print it. */
  readonly url: string
  readonly kind: 'external' | 'spawned' | 'docker' | 'embedded'
  /** One line for people: what it is and where. */
  readonly description: string
  /** One line for people: what a crash may lose. */
  readonly durability: string
  /** False when a restart of the engine forgets everything. */
  readonly keepsData: boolean
  /** Settings under which the promises of the structures do not hold; to be said loudly. */
  readonly warnings: readonly string[]
  /** Why it does not serve at the moment, for anybody to read, as far as it knows by itself; else null. */
  obstacle?(): string | null
  /** Tells whoever starts another service on the same data where this one listens. */
  serves?(url: string): void
  /** Ends an engine that is ours, data safely on disk; lets go of one that is not. */
  stop(): Promise<void>
}

export interface EngineOptions {
  /** `REDIS_URL`, `PATH`, `PERILUNE_FSYNC` (`everysec` or `always`), `PERILUNE_DEMO` (`never`: no embedded engine). */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where our own engine keeps its files: `.perilune`. */
  readonly directory: string
  /** How long what a killed service has left may be silent; by default half a minute. */
  readonly patienceMs?: number
  /** Called with a line about what is going on while it takes more than a moment. */
  say(line: string): void
}

/** No engine can be used. The message is one line that says what to do; it never holds a password. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
}
