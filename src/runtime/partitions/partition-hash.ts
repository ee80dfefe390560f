// The partition of a key: CRC16 (XMODEM, as for the slots of Redis Cluster) of the key's UTF-8 bytes, modulo the
// partition count. Clients in every language must compute the same.

import { InvalidArgumentError } from '../errors/errors.ts'

/** Throws InvalidArgumentError for a key that is not valid Unicode text. */
export function partitionOf(key: unknown, count: number, argument = 'key'): number {
  if (typeof key !== 'string' || /[\ud800-\udfff]/u.test(key)) {
    throw new InvalidArgumentError(argument, 'must be text of valid Unicode')
  }
  return crc16(Buffer.from(key)) % count
}

function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : crc << 1
  }
  return crc
}
