import { LIMIT_MS } from '../wire/time-limit.ts'

/** How long a PING may be unanswered before the line is in doubt. */
const PING_MS = 900

/** Signs of life of a line: answers to PING and all other incoming data. */
export class Pulse {
  readonly #ping: () => Promise<unknown>
  /** When the unanswered PING was sent. */
  #pingAt: number | null = null
  /** When the last question was sent that has been answered on a command connection. */
  #answeredFor = -Infinity

  constructor(ping: () => Promise<unknown>) {
    this.#ping = ping
  }

  /** True while a PING is overdue. */
  get isLate(): boolean {
    return this.#pingAt !== null && performance.now() - this.#pingAt > PING_MS
  }

  /** The line has received data. */
  heard(): void {
    this.#pingAt = null
  }

  /** A question was answered on a command connection. */
  commandAnswered(askedAt: number): void {
    this.#answeredFor = askedAt
  }

  /**
   * Sends a PING unless one is unanswered. False when it is overdue although commands were answered. If commands are
   * not answered either, the server is busy or unreachable.
   */
  feel(): boolean {
    const now = performance.now()
    if (this.#pingAt !== null)
      return now - this.#pingAt < LIMIT_MS || this.#answeredFor - this.#pingAt < PING_MS
    this.#pingAt = now
    const answered = (): void => {
      if (this.#pingAt === now) this.#pingAt = null
    }
    // An error reply is an answer too.
    this.#ping().then(answered, answered)
    return true
  }
}
