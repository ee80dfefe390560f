import { LIMIT_MS } from '../wire/time-limit.ts'

/** A PING may be out for this long before the line is in doubt. */
const PING_MS = 900

/** The signs of life of a line: answers to PING, and whatever else it says. */
export class Pulse {
  readonly #ping: () => Promise<unknown>
  /** When the PING was sent that is not answered yet. */
  #pingAt: number | null = null
  /** When a question was asked that was answered on a connection for commands: the last one. */
  #answeredFor = Number.NEGATIVE_INFINITY

  constructor(ping: () => Promise<unknown>) {
    this.#ping = ping
  }

  /** True while a PING is out for longer than it takes. */
  get isLate(): boolean {
    return this.#pingAt !== null && performance.now() - this.#pingAt > PING_MS
  }

  /** The line has said something. */
  heard(): void {
    this.#pingAt = null
  }

  /** A question was answered on a connection for commands. */
  commandAnswered(askedAt: number): void {
    this.#answeredFor = askedAt
  }

  /**
   * Asks for a sign of life, unless one is due. False when it has been due for too long, while commands were answered: where
   * they are not, the server is busy or away.
   */
  feel(): boolean {
    const now = performance.now()
    if (this.#pingAt !== null)
      return now - this.#pingAt < LIMIT_MS || this.#answeredFor - this.#pingAt < PING_MS
    this.#pingAt = now
    const answered = (): void => {
      if (this.#pingAt === now) this.#pingAt = null
    }
    // A refusal is an answer, too.
    this.#ping().then(answered, answered)
    return true
  }
}
