// What a script costs by its length: EVAL sends the text every time, EVALSHA forty letters.

import { Cluster, Redis } from 'ioredis'
import { startCluster } from '../../test/servers/cluster.ts'
import type { Bench, Variant } from '../harness/bench.ts'

const LENGTHS = [100, 1000, 10_000, 40_000]
const KEY = '{script-length}'

type Runs = Pick<Redis, 'eval' | 'evalsha'>

export async function compareLengths(bench: Bench): Promise<void> {
  const client = new Redis(bench.port)
  await compareOn(bench, client, client, 'one server')
  client.disconnect()
}

export async function compareLengthsOnCluster(bench: Bench): Promise<void> {
  const cluster = await startCluster()
  const port = await cluster.ownerOf(await cluster.slotOf(KEY))
  const node = cluster.nodes.find((one) => one.port === port)
  if (node === undefined) throw new Error('no node owns the slot')
  const owner = new Redis(port)
  const client = new Cluster(cluster.ports.map((one) => ({ host: '127.0.0.1', port: one })))
  try {
    await compareOn(bench.on(node, owner), client, owner, 'a cluster of three')
  } finally {
    client.disconnect()
    owner.disconnect()
    await cluster.stop()
  }
}

/** `loader`: a connection to the server that runs the scripts. */
async function compareOn(bench: Bench, client: Runs, loader: Redis, where: string): Promise<void> {
  const variants: Record<string, Variant> = {}
  for (const length of LENGTHS) {
    const source = `return 1 --${'.'.repeat(length - 11)}`
    const hash = String(await loader.script('LOAD', source))
    variants[`EVALSHA, ${length} bytes`] = () => client.evalsha(hash, 1, KEY)
    variants[`EVAL, ${length} bytes`] = () => client.eval(source, 1, KEY)
  }
  await bench.compare(`a script that does nothing, by length, 16 in flight, ${where}`, variants, {
    rounds: 5,
    perRound: 4000,
    inFlight: 16,
  })
}
