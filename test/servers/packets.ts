// Splits what a client of a database sends into whole requests, for the proxy.
import type { Reader } from './proxy.ts'

/** The length of the packet at the start; undefined while its head is not whole. */
type LengthOf = (data: Buffer, isFirst: boolean) => number | undefined

class PacketReader implements Reader {
  readonly #lengthOf: LengthOf
  #data: Buffer = Buffer.alloc(0)
  #isFirst = true

  constructor(lengthOf: LengthOf) {
    this.#lengthOf = lengthOf
  }

  read(chunk: Buffer): Buffer[] {
    this.#data = Buffer.concat([this.#data, chunk])
    const packets: Buffer[] = []
    for (;;) {
      const length = this.#lengthOf(this.#data, this.#isFirst)
      if (length === undefined || length > this.#data.length) return packets
      packets.push(this.#data.subarray(0, length))
      this.#data = this.#data.subarray(length)
      this.#isFirst = false
    }
  }
}

/** A letter and a length; the first packet of a connection has no letter. */
export function postgresPackets(): Reader {
  return new PacketReader((data, isFirst) => {
    const at = isFirst ? 0 : 1
    return data.length < at + 4 ? undefined : at + data.readInt32BE(at)
  })
}

/** A length of three bytes and a number. */
export function mysqlPackets(): Reader {
  return new PacketReader((data) => (data.length < 4 ? undefined : 4 + data.readUIntLE(0, 3)))
}
