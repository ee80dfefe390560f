// The addresses that a webhook may reach. A client that may subscribe must not be able to send requests of this service
// to its internal network. So only public addresses are allowed, and those that the configuration names.

import { isIP } from 'node:net'

/** The addresses whose first `bits` bits are those of `address`. */
export interface AddressRange {
  readonly address: bigint
  readonly family: 4 | 6
  readonly bits: number
}

const MAPPED = 0xff_ffn // the prefix of an IPv6 address that contains an IPv4 one

const NOT_PUBLIC = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carriers' own
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, where clouds keep their metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // IPv6 through a tunnel
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks between networks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
  // Of IPv6 only 2000::/3 is public: loopback and the forms of IPv4 are below it, private and reserved addresses above
  // it.
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23', // protocol assignments, IPv4 through a tunnel among them
  '2001:db8::/32', // documentation
  '2002::/16', // IPv4 through a tunnel
  '3fff::/20', // documentation
].flatMap((range) => parseRange(range) ?? [])

/** Whether a webhook may reach an address, as text. */
export function mayReach(address: string, allowed: readonly AddressRange[]): boolean {
  const single = parseRange(address)
  if (single === null) return false
  return isIn(single, allowed) || !isIn(single, NOT_PUBLIC)
}

/** `10.0.0.0/8,::1` → ranges; null if one of them is invalid. */
export function readRanges(text: string): AddressRange[] | null {
  const parts = text.split(',').flatMap((part) => part.trim() || [])
  const ranges = parts.flatMap((part) => parseRange(part) ?? [])
  return ranges.length === parts.length ? ranges : null
}

function isIn(single: AddressRange, ranges: readonly AddressRange[]): boolean {
  return ranges.some(({ family, bits, address }) => {
    const rest = BigInt(widthOf(family) - bits)
    return family === single.family && address >> rest === single.address >> rest
  })
}

function parseRange(text: string): AddressRange | null {
  const [address = '', size, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || more.length > 0) return null
  const parsed = version === 4 ? fromV4(address) : fromV6(address)
  const bits = size === undefined ? widthOf(parsed.family) : /^\d{1,3}$/.test(size) ? Number(size) : -1
  return bits < 0 || bits > widthOf(parsed.family) ? null : { ...parsed, bits }
}

type Address = Omit<AddressRange, 'bits'>

function fromV4(text: string): Address {
  return { family: 4, address: text.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n) }
}

/** An IPv4 address in an IPv6 one (`::ffff:10.0.0.1`) is the IPv4 address. */
function fromV6(text: string): Address {
  // A URL has only one form of an address, in groups of hexadecimal digits.
  const [head = '', tail] = new URL(`http://[${text}]/`).hostname.slice(1, -1).split('::')
  const groups = (part: string): string[] => part.split(':').filter((group) => group !== '')
  const [before, after] = [groups(head), groups(tail ?? '')]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  const all = [...before, ...zeros, ...after]
  const address = all.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
  const isMapped = address >> 32n === MAPPED
  return isMapped ? { family: 4, address: address & 0xff_ff_ff_ffn } : { family: 6, address }
}

function widthOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128
}
