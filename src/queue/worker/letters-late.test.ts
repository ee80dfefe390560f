// A worker that is closed before its process is subscribed.

import { expect, test } from 'vitest'
import type { Post } from '../../runtime/subscriptions/mailbox.ts'
import { Letters } from './letters.ts'
import type { QueueSource } from '../source/source.ts'

test('a subscription that is confirmed after the letters were closed is closed', async () => {
  let confirm: (post: Post) => void = () => undefined
  let closings = 0
  const confirmed = new Promise<Post>((resolve) => (confirm = resolve))
  const unit = {
    notifyChannel: { channel: 'letters' },
    runtime: { server: { info: {} }, mailbox: { newId: () => 'a.1', expect: () => confirmed } },
  }
  const letters = new Letters({ unit } as unknown as QueueSource, {
    leaseMs: 1000,
    onLetter: () => undefined,
    isClaimed: () => Promise.resolve(true),
    onHeard: () => undefined,
    onError: () => undefined,
  })
  letters.begin()
  letters.close()

  const post = { next: () => Promise.reject(new Error('closed')), close: () => (closings += 1) }
  confirm(post as unknown as Post)

  await expect.poll(() => closings).toBe(1)
})
