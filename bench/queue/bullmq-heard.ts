// BullMQ, with a listener to all events.

import { loadPeer } from '../harness/peers.ts'
import { bullmq } from './bullmq.ts'
import type { Contender, Source } from './contender.ts'

interface Package {
  QueueEvents: new (name: string, options: { connection: object }) => PackageEvents
}

interface PackageEvents {
  waitUntilReady(): Promise<unknown>
  on(event: string, listener: () => void): unknown
  close(): Promise<void>
}

/** All that a job without options goes through. */
const EVENTS = ['added', 'waiting', 'active', 'completed', 'drained']

export const bullmqHeard: Contender = {
  name: `${bullmq.name}, events heard`,
  peer: 'bullmq',
  settings: 'the same, while QueueEvents of the process listens to every event',
  heeds: bullmq.heeds,
  async connect(port: number, name: string): Promise<Source> {
    const { sends, add, work, close } = await bullmq.connect(port, name)
    return {
      sends: [...sends, 'xread'],
      add,
      ...(work && {
        work: async (terms) => {
          const stopListening = await listen(port, name)
          const worker = await work(terms)
          const closeAll = async (): Promise<void> => {
            await worker.close()
            await stopListening()
          }
          return { start: () => worker.start(), close: closeAll }
        },
      }),
      close,
    }
  },
}

/** Resolves once it reads, to what ends that. */
async function listen(port: number, name: string): Promise<() => Promise<void>> {
  const peer = loadPeer<Package>('bullmq')
  const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null }
  const events = new peer.QueueEvents(name, { connection })
  await events.waitUntilReady()
  let heard = 0
  for (const event of EVENTS) events.on(event, () => void (heard += 1))
  return () => events.close()
}
