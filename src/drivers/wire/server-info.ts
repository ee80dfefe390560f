import type { ServerInfo } from '../../driver.ts'

const OTHER_ENGINES = /^(?:dragonfly|kvrocks|garnet|keydb)_version:/m

/** False for a reply that is no INFO, and so belongs to another call. */
export function isInfo(texts: readonly string[]): boolean {
  return texts.every((text) => /^\w+:/m.test(text))
}

/** Parses the section `server` of INFO, one text per node; the oldest node determines the common features. */
export function serverInfo(
  texts: readonly string[],
  throughCluster: boolean,
  database: number = 0,
): ServerInfo {
  const infos = texts.map((text) => ({
    engine: engineOf(text),
    version: field(text, 'redis_version') ?? '0.0.0',
    // Valkey calls it server_mode.
    cluster: throughCluster || /^\w+_mode:cluster\b/m.test(text),
  }))
  const [oldest = { engine: 'other' as const, version: '0.0.0', cluster: throughCluster }] = infos.toSorted(
    (a, b) => compareVersions(a.version, b.version),
  )
  const shardedChannels = throughCluster && compareVersions(oldest.version, '7.0.0') >= 0
  return { ...oldest, shardedChannels, database }
}

/** The id of the server process; undefined when it reports none. */
export function runIdOf(info: string): string | undefined {
  return field(info, 'run_id')
}

function engineOf(text: string): ServerInfo['engine'] {
  if (OTHER_ENGINES.test(text)) return 'other'
  if (field(text, 'valkey_version') !== undefined) return 'valkey'
  return field(text, 'redis_version') === undefined ? 'other' : 'redis'
}

function field(text: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(text)?.[1]
}

function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}
