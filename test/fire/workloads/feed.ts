import { type Feed, type PartitionedFeed, PeriluneError, type TailedMessage } from 'perilune'
import { repeat, type Site, type Workload } from './workload.ts'

interface Body {
  key: string
}
type AnyFeed = Feed<Body> | PartitionedFeed<Body>
type Open = (site: Site) => AnyFeed

const PAGE = 500

function appending(site: Site, feed: AnyFeed): () => Promise<unknown> {
  let made = 0
  return () => {
    const key = `${site.process}-${++made}`
    return site.recorder.call({ what: 'append', key }, async () => feed.append({ key }))
  }
}

/** Every message from the first one on, whatever happens; after an error it starts again after the last one. */
export async function follow({ recorder, over }: Site, feed: AnyFeed): Promise<void> {
  let after: { after: string } | undefined
  while (!over.aborted) {
    try {
      for await (const message of feed.tail({ signal: over, ...after })) {
        if (message.cursor !== null) after = { after: message.cursor }
        const { id, lostBefore } = message
        recorder.metAgain('met', message.body.key, { id, lostBefore, partition: partitionOf(message) })
      }
    } catch (error) {
      if (over.aborted) return
      const code = error instanceof PeriluneError ? error.code : null
      recorder.saw('tail ended', '', { code, error: String(error) })
    }
  }
}

function partitionOf(message: object): number {
  return Number((message as Partial<TailedMessage<Body> & { partition: number }>).partition ?? 0)
}

export async function readAll(site: Site, feed: AnyFeed): Promise<void> {
  let after: { after: string } | undefined
  for (;;) {
    const page = await feed.read({ limit: PAGE, ...after })
    for (const message of page.messages)
      site.recorder.saw('there', message.body.key, { id: message.id, partition: partitionOf(message) })
    if (!page.more) return site.recorder.saw('read all', '')
    after = { after: page.next }
  }
}

function workload(open: Open): Workload {
  return {
    async work(site) {
      const feed = open(site)
      await Promise.all([repeat(site, 60, appending(site, feed)), follow(site, feed)])
    },
    look: (site) => readAll(site, open(site)),
  }
}

export const feed: Workload = workload(({ redis }) => redis.feed<Body>('talk'))
export const feedPartitioned: Workload = workload(({ redis }) =>
  redis.feed<Body>('spread', { partitions: 3 }),
)
