import { type Place, reaches, type Step } from './use.ts'

/** A queue in partitions: which are proposed, agreed upon and disbanded. */
export function spreadQueueSteps({ redis, name }: Place): readonly Step[] {
  const queue = redis.queue<Record<string, number>>(`${name} spread`, { partitions: 2 })
  const groups = ['a', 'b', 'c', 'd'].map((group) => ({ name: 'spread', payload: 1, group }))
  const enqueueAll = async (): Promise<number> => (await queue.enqueueMany(groups)).length
  const work = async (): Promise<number> => {
    await using _worker = queue.work(() => undefined)
    await reaches(async () => (await queue.inspect()).acked === groups.length)
    return groups.length
  }
  return [
    ['agree', 'serves', async () => (await queue.inspect()).ready],
    ['propose', 'refuses', enqueueAll],
    ['agree', 'serves', async () => (await queue.inspect()).ready],
    ['ack-and-claim', 'unasked', work],
    ['disband', 'serves', () => queue.clear()],
    ['agree', 'serves', () => queue.clear()],
  ]
}

/** The same of a feed. */
export function spreadFeedSteps({ redis, name }: Place): readonly Step[] {
  const feed = redis.feed<number>(`${name} spread`, { partitions: 2 })
  const keyed = ['a', 'b', 'c', 'd'].map((key) => ({ body: 1, key }))
  return [
    ['agree', 'serves', async () => (await feed.read()).messages.length],
    ['propose', 'refuses', async () => (await feed.appendMany(keyed)).length],
    ['read', 'serves', async () => (await feed.read()).messages.length],
    ['disband', 'serves', () => feed.clear()],
    ['agree', 'serves', () => feed.clear()],
  ]
}
