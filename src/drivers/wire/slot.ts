// The hash slot of a key, as Redis Cluster computes it: CRC16 (XMODEM) of the hash tag or the whole key.

const SLOTS = 16_384
const OPENING = 0x7b
const CLOSING = 0x7d
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => remainder(byte))

export function slotOf(key: string | Uint8Array): number {
  const bytes = typeof key === 'string' ? Buffer.from(key) : key
  const opening = bytes.indexOf(OPENING)
  const closing = opening === -1 ? -1 : bytes.indexOf(CLOSING, opening + 1)
  const tagged = closing > opening + 1
  return tagged ? hash(bytes, opening + 1, closing) : hash(bytes, 0, bytes.length)
}

function hash(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0
  for (let at = from; at < to; at++) {
    crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ (bytes[at] ?? 0)] ?? 0)
  }
  return crc % SLOTS
}

function remainder(byte: number): number {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc & 0xffff
}
