// The Redis on which the service runs its scripts, wherever it comes from.

export interface Engine {
  /** For a Redis client. May contain a password: never print it. */
  readonly url: string
  readonly kind: 'external' | 'spawned' | 'docker' | 'embedded'
  /** One line for people: what it is and where. */
  readonly description: string
  /** One line for people: what a crash may lose. */
  readonly durability: string
  /** False if a restart of the engine loses all data. */
  readonly keepsData: boolean
  /** Settings that break the promises of the structures; to be printed prominently. */
  readonly warnings: readonly string[]
  /** Why it does not serve at the moment, in words for the public; null if it serves or does not know. */
  obstacle?(): string | null
  /** Records where this service listens, for the error message of another service started on the same data. */
  serves?(url: string): void
  /** Stops a private engine once its data is safely on disk; only disconnects from an external one. */
  stop(): Promise<void>
}

export interface EngineOptions {
  /** `REDIS_URL`, `PATH`, `PERILUNE_FSYNC` (`everysec` or `always`), `PERILUNE_DEMO` (`never`: no embedded engine). */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The directory of the private engine: `.perilune`. */
  readonly directory: string
  /** How long a server left by a killed service may stay silent. Default: 30 seconds. */
  readonly patienceMs?: number
  /** Called with a progress line when something takes longer than a moment. */
  say(line: string): void
}

/** No engine can be used. The message is one line with a remedy; it never contains a password. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
}
