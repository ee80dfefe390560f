// Reads an entry as lua/shared/autocomplete/record packs it: in the client, for the server has less time.

const HEAD_BYTES = 22
const MOST_SCORE = 2 ** 52

export interface Entry {
  readonly id: string
  readonly text: string
  readonly score: number
  /** Empty where none was added. */
  readonly payload: Buffer
  readonly edited: boolean
}

/** The record between these bytes. */
export function readRecord(bytes: Buffer, at: number, to: number, edited: boolean): Entry {
  const idTo = at + HEAD_BYTES + bytes.readUInt16BE(at + 16)
  const textAt = idTo + bytes.readUInt16BE(at + 18)
  const textTo = textAt + bytes.readUInt16BE(at + 20)
  const text = bytes.toString('utf8', textAt, textTo)
  return {
    id: idTo === at + HEAD_BYTES ? text : bytes.toString('utf8', at + HEAD_BYTES, idTo),
    text,
    score: MOST_SCORE - bytes.readDoubleBE(at + 8),
    payload: bytes.subarray(textTo, to),
    edited,
  }
}
