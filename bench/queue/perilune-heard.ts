// Ours, with a listener to all events.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { builtLibrary } from '../harness/built.ts'
import type { Contender, Source } from './contender.ts'
import { perilune } from './perilune.ts'

const ASK_MS = 5

export const periluneHeard: Contender = {
  name: `${perilune.name}, events heard`,
  settings: 'the same, while another instance in the process listens to every event',
  heeds: perilune.heeds,
  async connect(port: number, name: string): Promise<Source> {
    const { sends, add, work, close } = await perilune.connect(port, name)
    return {
      sends,
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

/** Resolves once the queue tells what happens, to what ends that. */
async function listen(port: number, name: string): Promise<() => Promise<void>> {
  const built = await builtLibrary()
  const client = new Redis({ port })
  const redis = built.perilune(built.ioredis(client))
  const aborter = new AbortController()
  const hearing = hear(redis.queue(name).events({ signal: aborter.signal }))
  while ((await client.exists(`perilune:{queue:${name}}:listeners`)) === 0) await sleep(ASK_MS)
  return async () => {
    aborter.abort()
    await hearing
    await redis.close()
    client.disconnect()
  }
}

async function hear(events: AsyncIterable<unknown>): Promise<number> {
  let heard = 0
  try {
    for await (const _ of events) heard += 1
  } catch {
    // The end of the round.
  }
  return heard
}
