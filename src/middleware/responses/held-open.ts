// A connection whose response has been ended by its handler, and is sent once it has been kept. Express breaks off the connection of
// a response that fails after its end: without middleware the response has gone out by then.

/** What is used of a socket. */
export interface HeldConnection {
  readonly writable?: boolean
  destroy(error?: Error): unknown
}

/** Breaks the connection off, as somebody wanted; null: nobody did. */
export type BreakingOff = (() => void) | null

// Requests may come one behind another on one connection.
const holds = new WeakMap<HeldConnection, Hold>()

/** Nobody breaks the connection off until the function is called that is answered. */
export function holdOpen(connection: HeldConnection): () => BreakingOff {
  const hold = holds.get(connection) ?? new Hold(connection)
  holds.set(connection, hold)
  return hold.add()
}

class Hold {
  readonly #connection: HeldConnection
  readonly #own: PropertyDescriptor | undefined
  #count = 0
  #wanted: [error?: Error] | null = null

  constructor(connection: HeldConnection) {
    this.#connection = connection
    this.#own = Object.getOwnPropertyDescriptor(connection, 'destroy')
    const value = (...args: [error?: Error]): HeldConnection => {
      this.#wanted ??= args
      return connection
    }
    Object.defineProperty(connection, 'destroy', { configurable: true, writable: true, value })
  }

  add(): () => BreakingOff {
    this.#count += 1
    return () => {
      this.#count -= 1
      return this.#count === 0 ? this.#end() : null
    }
  }

  #end(): BreakingOff {
    const [connection, wanted] = [this.#connection, this.#wanted]
    holds.delete(connection)
    if (this.#own === undefined) Reflect.deleteProperty(connection, 'destroy')
    else Object.defineProperty(connection, 'destroy', this.#own)
    return wanted === null ? null : () => void connection.destroy(...wanted)
  }
}
