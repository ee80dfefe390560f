// An endless reader may be abandoned while it waits: by a stream that is destroyed, or a race that is over.

import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { Perilune } from 'perilune'
import { describe, expect, test } from 'vitest'
import { instance } from '../instance.ts'

const READERS: Readonly<Record<string, (redis: Perilune, name: string) => AsyncGenerator>> = {
  'a tail': (redis, name) => redis.feed(name).tail(),
  'a tail of partitions': (redis, name) => redis.feed(name, { partitions: 2 }).tail(),
  'a subscriber': (redis, name) => redis.feed(name).subscriber('a').read(),
  'a subscriber of partitions': (redis, name) => redis.feed(name, { partitions: 2 }).subscriber('a').read(),
  'the events of a queue': (redis, name) => redis.queue(name).events(),
  'the events of a queue in partitions': (redis, name) => redis.queue(name, { partitions: 2 }).events(),
}

describe.each(Object.entries(READERS))('%s', (_, read) => {
  test('that waits ends when it is abandoned', async () => {
    const { redis, name } = instance()
    const items = read(redis, name)
    const asked = items.next()
    await new Promise((resolve) => setTimeout(resolve, 50))

    expect((await items.return(undefined)).done).toBe(true)

    expect((await asked).done).toBe(true)
    expect((await items.next()).done).toBe(true)
  })

  test('is closed with the stream that is made of it', async () => {
    const { redis, name } = instance()
    const items = read(redis, name)
    const stream = Readable.from(items)
    stream.resume()
    await new Promise((resolve) => setTimeout(resolve, 50))

    stream.destroy()

    await once(stream, 'close')
    expect((await items.next()).done).toBe(true)
  })
})
