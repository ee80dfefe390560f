// A worker that is closed before its process listens.

import { expect, test } from 'vitest'
import type { Post } from '../../runtime/subscriptions/mailbox.ts'
import { Letters } from './letters.ts'
import type { QueueSource } from '../source/source.ts'

test('letters that are confirmed after they were closed are closed', async () => {
  let confirm: (post: Post) => void = () => undefined
  let closings = 0
  const confirmed = new Promise<Post>((resolve) => (confirm = resolve))
  const unit = {
    told: { channel: 'told' },
    runtime: { server: { info: {} }, mailbox: { newId: () => 'a.1', expect: () => confirmed } },
  }
  const letters = new Letters({ unit } as unknown as QueueSource, {
    leaseMs: 1000,
    onLetter: () => undefined,
    onHeard: () => undefined,
    onError: () => undefined,
  })
  letters.begin()
  letters.close()

  const post = { next: () => Promise.reject(new Error('closed')), close: () => (closings += 1) }
  confirm(post as unknown as Post)

  await expect.poll(() => closings).toBe(1)
})
