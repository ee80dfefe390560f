// Where one who waits for jobs is told: by any of the partitions that are listened to.

import { Joined } from '../../runtime/time/aborts.ts'
import type { Mailbox, Post } from '../../runtime/subscriptions/mailbox.ts'

/** Where letters of all partitions come. */
export interface SharedPosts {
  readonly posts: readonly Post[]
  close(): void
}

/** On all of them, or on none. */
export async function listenOn(
  channels: readonly string[],
  mailbox: Mailbox,
  id: string,
): Promise<SharedPosts> {
  const opened = await Promise.allSettled(channels.map((channel) => mailbox.expect(channel, id)))
  const posts = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const close = (): void => posts.forEach((post) => post.close())
  if (posts.length === channels.length) return { posts, close }
  close()
  throw new Error('not all partitions can be listened to')
}

/** Resolves when one has a letter, or after `ms`. Rejects with the signal's reason. */
export async function anyOf(
  posts: readonly Post[],
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const [only, ...others] = posts as readonly [Post, ...Post[]]
  if (others.length === 0) return void (await only.next(ms, signal))
  const enough = new Joined(signal === undefined ? [] : [signal])
  const waits = posts.map((post) => post.next(ms, enough.signal))
  for (const wait of waits) wait.catch(() => undefined)
  try {
    await Promise.race(waits)
  } finally {
    enough.abort(new Error('another one has a letter'))
  }
}
