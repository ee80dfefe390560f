// The data that a soak of the queue leaves.

import { Cluster, type Redis } from 'ioredis'
import type { Job, Queue, QueueInspection } from 'perilune'
import type { Jobs } from './plan.ts'

export interface End {
  readonly inspection: QueueInspection
  readonly dead: readonly Job[]
  /** Null: the queue keeps none. */
  readonly done: readonly Job[] | null
  /** The data stored without jobs, once the dead and the done have been removed. */
  readonly left: readonly string[]
}

/**
 * What stays without jobs: settings and remembered calls, limits of groups, messages from other queues, workers that
 * died while they waited (until they are called next), and statistics.
 */
const STANDING = new Set(['meta', 'groups', 'inbox', 'idle', 'stats', 'notes'])

export async function readEnd(
  queue: Queue<Jobs>,
  client: Redis | Cluster,
  prefix: string,
  groups: readonly string[],
): Promise<End> {
  const inspection = await queue.inspect()
  const dead = await readAll(queue, 'dead')
  const done = inspection.retentionCount > 0 ? await readAll(queue, 'done') : null
  for (const { kind } of await queue.dead.list()) await queue.dead.drop(kind)
  if (done !== null) await dropDone(queue)
  const left = [...(await readLeft(client, prefix)), ...(await readGroups(queue, groups))]
  return { inspection, dead, done, left }
}

async function readAll(queue: Queue<Jobs>, state: 'dead' | 'done'): Promise<Job[]> {
  const all: Job[] = []
  let after: string | null = '0'
  while (after !== null) {
    const page: Awaited<ReturnType<typeof queue.jobs.list>> = await queue.jobs.list(state, {
      after,
      limit: 1000,
    })
    all.push(...page.jobs)
    after = page.next
  }
  return all
}

/** Each ack drops twenty more of those that may not be kept than it acks. */
async function dropDone(queue: Queue<Jobs>): Promise<void> {
  await queue.settings.set({ retention: null })
  while ((await queue.inspect()).done > 0) {
    await queue.enqueue('one', { ref: 'the last', ms: 0, fails: 0, poison: false, ends: 'ack' })
    for (const job of await queue.claim()) await job.ack()
  }
}

async function readLeft(client: Redis | Cluster, prefix: string): Promise<string[]> {
  const left: string[] = []
  const nodes = client instanceof Cluster ? client.nodes('master') : [client]
  const pattern = `${prefix.replace(/[{}[\]*?]/g, '?')}*`
  for (const key of (await Promise.all(nodes.map((node) => node.keys(pattern)))).flat()) {
    const part = key.slice(prefix.length)
    if (STANDING.has(part)) continue
    const type = await client.type(key)
    const members =
      type === 'hash' ? await client.hkeys(key) : type === 'zset' ? await client.zrange(key, 0, '-1') : ['']
    left.push(...members.filter((member) => !/^~+$/.test(member)).map((member) => `${part} ${member}`))
  }
  return left
}

/** Groups that think they have jobs. */
async function readGroups(queue: Queue<Jobs>, groups: readonly string[]): Promise<string[]> {
  const pictures = await Promise.all(groups.map((group) => queue.settings.setGroup(group, {})))
  return pictures.flatMap(({ ready, claimed }, at) =>
    ready + claimed === 0 ? [] : [`group ${groups[at]} with ${ready} ready, ${claimed} claimed jobs`],
  )
}
