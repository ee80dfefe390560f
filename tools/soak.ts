// `npm run soak -- feed [--seconds 60] [--seed n]`: the ordering proof of feeds, for as long as you like.
// Writes what it found to docs/proof/feed-soak.md.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask } from '../test/servers/ask.ts'
import { startRedis } from '../test/servers/redis.ts'
import type { SoakVerdict } from '../test/soak/feed-soak.ts'
import { pageOf, type Run } from '../test/soak/proof-page.ts'
import { soakBehindProxies, soakOnCluster, soakWithKills, type Terms } from '../test/soak/scenes.ts'
import { explain, readArguments } from './arguments.ts'

const USAGE = 'npm run soak -- feed [--seconds 60] [--seed 1]'

const { positionals, values } = readArguments(USAGE, {
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
})
const [seconds, seed] = [Number(values.seconds), Number(values.seed)]
if (positionals.join() !== 'feed' || !(seconds >= 1) || !Number.isSafeInteger(seed)) {
  explain(USAGE, 'there is a soak of feeds only; it takes five times so many seconds')
}

const scenes: readonly {
  what: string
  kind: 'perilune' | 'unguarded'
  soak(terms: Terms): Promise<SoakVerdict>
}[] = [
  { what: 'a cluster whose slots move and whose replicas take over', kind: 'perilune', soak: soakOnCluster },
  { what: 'a cluster whose masters are killed', kind: 'perilune', soak: soakWithKills },
  { what: 'one server behind connections that break', kind: 'perilune', soak: soakBehindProxies },
  { what: 'a cluster whose slots move and whose replicas take over', kind: 'unguarded', soak: soakOnCluster },
  { what: 'one server behind connections that break', kind: 'unguarded', soak: soakBehindProxies },
]

const runs: Run[] = []
for (const [at, { what, kind, soak }] of scenes.entries()) {
  const own = seed + at
  console.log(`${kind}: ${what}, ${seconds} s, seed ${own}`)
  const verdict = await soak({ forMs: seconds * 1000, seed: own, kind })
  console.log(JSON.stringify(verdict, null, 2))
  runs.push({ what, kind, seed: own, verdict })
}
const command = `npm run soak -- feed --seconds ${seconds} --seed ${seed}`
const page = pageOf({ command, redis: await redisVersion(), runs })
const folder = join(import.meta.dirname, '../docs/proof')
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'feed-soak.md'), page)

const faults = runs.filter(({ kind }) => kind === 'perilune').flatMap(({ verdict }) => verdict.faults)
console.log(faults.length === 0 ? 'no fault in Perilune' : 'FAULTS in Perilune')
console.log('docs/proof/feed-soak.md written')
process.exitCode = faults.length === 0 ? 0 : 1

async function redisVersion(): Promise<string> {
  const server = await startRedis()
  try {
    return /redis_version:(\S+)/.exec(String(await ask(server.port, 'INFO', 'server')))?.[1] ?? 'unknown'
  } finally {
    await server.stop()
  }
}
