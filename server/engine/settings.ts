// What a server's settings mean for the data: read once, and described in plain words.
import type { Redis } from 'ioredis'

export interface EngineSettings {
  durability: string
  keepsData: boolean
  warnings: string[]
}

/** Reads the settings of the server. Settings that the user may not read are described as unknown. */
export async function readSettings(client: Redis): Promise<EngineSettings> {
  const facts = new Map([...(await info(client)), ...(await configuration(client))])
  const onDisk = disk(facts)
  return {
    durability: `${topology(facts)}, ${onDisk}`,
    keepsData: onDisk !== NOTHING_ON_DISK,
    warnings: warnings(facts),
  }
}

type Facts = ReadonlyMap<string, string>

const NOTHING_ON_DISK = 'nothing on disk: a restart loses everything'

const FSYNC: Record<string, string> = {
  always: 'fsync on every write: acknowledged writes survive a crash and a power loss',
  everysec: 'fsync every second: a crash or power loss may lose the last 1–2 seconds',
  no: 'fsync left to the operating system: a power loss may lose the last half minute or more',
}

async function info(client: Redis): Promise<Facts> {
  const text = await client.info().catch(() => '')
  return new Map(
    text.split('\r\n').map((line) => [line.split(':', 1)[0] ?? '', line.slice(line.indexOf(':') + 1)]),
  )
}

async function configuration(client: Redis): Promise<[string, string][]> {
  const names = ['appendfsync', 'save', 'maxmemory-policy']
  const answers = await Promise.all(names.map((name) => client.config('GET', name).catch(() => null)))
  return answers.flatMap((answer, index) => {
    const value = configurationValue(answer)
    return value === undefined ? [] : [[names[index] ?? '', value] as [string, string]]
  })
}

/** RESP2 answers with a list of names and values, RESP3 with a map. */
function configurationValue(answer: unknown): string | undefined {
  const value: unknown = Array.isArray(answer) ? answer[1] : Object.values(answer ?? {})[0]
  return typeof value === 'string' ? value : undefined
}

function topology(facts: Facts): string {
  if (facts.get('cluster_enabled') === '1') return 'cluster (a failover may lose what was not yet replicated)'
  const replicas = Number(facts.get('connected_slaves') ?? 0)
  if (replicas > 0)
    return `primary with ${replicas} replica(s) (a failover may lose what was not yet replicated)`
  if (facts.get('role') === 'slave') return 'replica'
  return facts.has('role') ? 'single server' : 'topology unknown'
}

function disk(facts: Facts): string {
  const appendOnly = facts.get('aof_enabled')
  if (appendOnly === undefined) return 'durability unknown (this user may not ask)'
  if (appendOnly === '1') {
    const fsync = FSYNC[facts.get('appendfsync') ?? ''] ?? 'fsync policy unknown (this user may not ask)'
    return `append-only file, ${fsync}`
  }
  const snapshots = facts.get('save')
  if (snapshots === '') return NOTHING_ON_DISK
  return `${snapshots === undefined ? 'at most' : 'only'} snapshots on disk: a crash loses the writes after the last one`
}

function warnings(facts: Facts): string[] {
  const found: string[] = []
  const policy = facts.get('maxmemory-policy') ?? facts.get('maxmemory_policy')
  if (policy === undefined) {
    found.push('maxmemory-policy is unknown (this user may not ask): it must be noeviction, or data is lost')
  } else if (policy !== 'noeviction') {
    found.push(
      `maxmemory-policy is ${policy}: Redis may delete any key of the service, and no promise holds; set it to noeviction`,
    )
  }
  if (facts.get('role') === 'slave')
    found.push('this server is a replica and refuses writes: use its primary')
  return found
}
