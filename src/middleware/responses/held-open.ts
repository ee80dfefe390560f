// Keeps the connection of an ended response open while the response is stored before it is sent. Express destroys the
// connection when an error follows the end; without middleware the response would have been sent by then.

/** The part of a socket that is used. */
export interface HeldConnection {
  readonly writable?: boolean
  destroy(error?: Error): unknown
}

/** Destroys the connection, as was requested in the meantime; null when nothing requested it. */
export type BreakingOff = (() => void) | null

// Several pipelined requests may share one connection.
const holds = new WeakMap<HeldConnection, Hold>()

/** Defers `destroy` of the connection until the returned function is called. */
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
