// The address of a Redis as users write it: one server, the Sentinels of a name, or nodes of a cluster.
//   redis://user:password@host:6379/0            rediss:// uses TLS, for each form
//   redis+sentinel://user:password@host:26379,host:26379/NAME?db=0&sentinelPassword=…
//   redis+cluster://user:password@host:6379,host:6379

export type Topology = 'single' | 'sentinel' | 'cluster'

export interface Place {
  readonly host: string
  readonly port: number
}

export interface Address {
  /** What the URL says; the server of a single one may turn out to be a node of a cluster. */
  readonly topology: Topology
  readonly places: readonly Place[]
  readonly tls: boolean
  /** Null: no user is named, which means `default`. */
  readonly username: string | null
  readonly password: string | null
  readonly db: number
  /** What the Sentinels call the primary; null without Sentinel. */
  readonly masterName: string | null
  readonly sentinelUsername: string | null
  readonly sentinelPassword: string | null
}

/** The message never contains the URL, which may have a password in it. */
export class AddressError extends Error {
  override readonly name = 'AddressError'
}

const FORMS =
  'redis://host:6379, rediss:// for TLS, redis+sentinel://host:26379,host:26379/NAME or redis+cluster://host:6379,host:6379'

// The user information may contain any character but `@`, `/`, `?` and `#`, which are escaped there.
const URL_PARTS =
  /^(?<scheme>[a-z]+)(?:\+(?<form>[a-z]+))?:\/\/(?:(?<user>[^@/?#]*)@)?(?<places>[^@/?#]*)(?:\/(?<path>[^?#]*))?(?:\?(?<query>[^#]*))?$/i

const SCHEMES: ReadonlyMap<string, boolean> = new Map([
  ['redis', false],
  ['valkey', false],
  ['rediss', true],
  ['valkeys', true],
])

/** Throws AddressError. */
export function parseAddress(url: string): Address {
  const parts = URL_PARTS.exec(url.trim())?.groups
  const tls = SCHEMES.get(parts?.['scheme']?.toLowerCase() ?? '')
  if (parts === undefined || tls === undefined) throw new AddressError(`the URL must be ${FORMS}`)
  const topology = topologyOf(parts['form'])
  const query = queryOf(parts['query'] ?? '')
  const path = decoded(parts['path'] ?? '')
  if (topology === 'sentinel' && path === '') {
    throw new AddressError(
      'a URL of Sentinel ends with the name of the primary: redis+sentinel://host:26379/NAME',
    )
  }
  const places = placesOf(parts['places'] ?? '', topology === 'sentinel' ? 26_379 : 6379)
  if (topology === 'single' && places.length > 1) {
    throw new AddressError('several hosts are for redis+cluster:// or redis+sentinel://')
  }
  return {
    topology,
    places,
    tls,
    ...userOf(parts['user'] ?? ''),
    db: dbOf(query.get('db') ?? (topology === 'sentinel' ? '' : path), topology),
    masterName: topology === 'sentinel' ? path : null,
    sentinelUsername: query.get('sentinelUsername') ?? null,
    sentinelPassword: query.get('sentinelPassword') ?? null,
  }
}

/** The URL without user, password and query. */
export function showAddress({ topology, places, tls, masterName, db }: Address): string {
  const scheme = `${tls ? 'rediss' : 'redis'}${topology === 'single' ? '' : `+${topology}`}`
  const path = masterName === null ? (db === 0 ? '' : `/${db}`) : `/${masterName}`
  return `${scheme}://${places.map(showPlace).join(',')}${path}`
}

export function showPlace({ host, port }: Place): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function topologyOf(form: string | undefined): Topology {
  if (form === undefined) return 'single'
  const topology = form.toLowerCase()
  if (topology === 'sentinel' || topology === 'cluster') return topology
  throw new AddressError(`the URL must be ${FORMS}`)
}

function placesOf(text: string, defaultPort: number): Place[] {
  return text.split(',').map((each) => {
    const match = /^(?:\[(?<v6>[0-9a-f:.%]+)\]|(?<name>[^\s:[\]]*))(?::(?<port>\d+))?$/i.exec(each)?.groups
    if (match === undefined)
      throw new AddressError('a host in the URL must be a name or an address, with :port')
    const port = Number(match['port'] ?? defaultPort)
    if (port < 1 || port > 65_535) throw new AddressError('a port in the URL must be 1 to 65535')
    return { host: (match['v6'] ?? match['name'] ?? '') || '127.0.0.1', port }
  })
}

function userOf(text: string): Pick<Address, 'username' | 'password'> {
  const colon = text.indexOf(':')
  const username = decoded(colon === -1 ? text : text.slice(0, colon))
  return {
    username: username === '' ? null : username,
    password: colon === -1 ? null : decoded(text.slice(colon + 1)),
  }
}

function dbOf(text: string, topology: Topology): number {
  if (!/^\d{0,4}$/.test(text)) throw new AddressError('the path of the URL must be the number of a database')
  const db = Number(text)
  if (db > 0 && topology === 'cluster') throw new AddressError('a cluster has no database but 0')
  return db
}

function queryOf(text: string): Map<string, string> {
  const query = new Map(new URLSearchParams(text))
  const known = new Set(['db', 'sentinelUsername', 'sentinelPassword'])
  const unknown = [...query.keys()].find((key) => !known.has(key))
  if (unknown !== undefined) throw new AddressError(`the URL has an unknown option: ${unknown}`)
  return query
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new AddressError('the URL has a % that is not followed by two hexadecimal digits')
  }
}
