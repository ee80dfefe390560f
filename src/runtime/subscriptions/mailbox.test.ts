import { expect, onTestFinished, test } from 'vitest'
import type { Driver, Listener } from '../../driver.ts'
import { Mailbox } from './mailbox.ts'

interface Setup {
  mailbox: Mailbox
  channels: Map<string, Listener>
  confirm: { fails: boolean }
}

function setup(): Setup {
  const channels = new Map<string, Listener>()
  const confirm = { fails: false }
  const subscribe: Driver['subscribe'] = async (channel, listener) => {
    if (confirm.fails) throw new Error('not allowed')
    channels.set(channel, listener)
    return { close: async () => void channels.delete(channel) }
  }
  const mailbox = new Mailbox({ subscribe })
  onTestFinished(() => mailbox.close())
  return { mailbox, channels, confirm }
}

test('all waiters of one place share one channel, which names the process', async () => {
  const { mailbox, channels } = setup()
  const ids = [mailbox.newId(), mailbox.newId(), mailbox.newId()]
  await Promise.all(ids.map((id) => mailbox.expect('here', id)))

  const [process] = (ids[0] ?? '').split('.')
  expect([...channels.keys()]).toEqual([`here:${process}`])
  expect(new Set(ids).size).toBe(3)
})

test('each waiter gets its own letters, also those that arrive before it reads', async () => {
  const { mailbox, channels } = setup()
  const [one, other] = [mailbox.newId(), mailbox.newId()]
  const posts = [await mailbox.expect('here', one), await mailbox.expect('here', other)]
  const [listener] = channels.values()

  listener?.onMessage(`granted ${other} 5 6\nfirst ${one} 7\nfirst ${one} 8`)

  expect(await posts[1]?.next(1000)).toMatchObject({ word: 'granted', numbers: [5, 6] })
  expect(await posts[0]?.next(1000)).toMatchObject({ word: 'first', numbers: [7] })
  expect(await posts[0]?.next(1000)).toMatchObject({ word: 'first', numbers: [8] })
  expect(await posts[0]?.next(1)).toBeNull()
})

test('when the process listens already, the next waiter does not wait for the server', async () => {
  const { mailbox, channels } = setup()
  const id = mailbox.newId()
  expect(mailbox.expectNow('here', id)).toBeNull()
  await mailbox.expect('here', mailbox.newId())

  const post = mailbox.expectNow('here', id)
  for (const { onMessage } of channels.values()) onMessage(`granted ${id} 5`)

  expect(await post?.next(1000)).toMatchObject({ word: 'granted', numbers: [5] })
})

test('after a gap every waiter is notified once that letters may be missing', async () => {
  const { mailbox, channels } = setup()
  const post = await mailbox.expect('here', mailbox.newId())
  const waiting = post.next(5000)

  for (const { onGap } of channels.values()) onGap()

  expect(await waiting).toBe('missed')
  expect(await post.next(1)).toBeNull()
})

test('closing wakes all waiters', async () => {
  const { mailbox } = setup()
  const post = await mailbox.expect('here', mailbox.newId())
  const waiting = post.next(5000)

  mailbox.close()

  expect(await waiting).toBe('missed')
})

test('an aborted wait rejects with the reason', async () => {
  const { mailbox } = setup()
  const post = await mailbox.expect('here', mailbox.newId())
  const leaving = new AbortController()
  const waiting = post.next(5000, leaving.signal)

  leaving.abort(new Error('not any more'))

  await expect(waiting).rejects.toThrow('not any more')
})

test('the next waiter after a failed subscription retries', async () => {
  const { mailbox, channels, confirm } = setup()
  confirm.fails = true
  await expect(mailbox.expect('here', mailbox.newId())).rejects.toThrow('not allowed')

  confirm.fails = false
  await mailbox.expect('here', mailbox.newId())

  expect(channels.size).toBe(1)
})

test('waiters for the same thing share one id, and each gets every letter', async () => {
  const { mailbox, channels } = setup()
  const [one, other] = await Promise.all([
    mailbox.expectShared('here', 'job 7'),
    mailbox.expectShared('here', 'job 7'),
  ])
  const apart = await mailbox.expectShared('here', 'job 8')
  const [listener] = channels.values()

  listener?.onMessage(`ended ${one?.id} 0`)
  expect(other?.id).toBe(one?.id)
  expect(apart.id).not.toBe(one?.id)
  expect(await one?.next(0)).toMatchObject({ word: 'ended' })
  expect(await other?.next(0)).toMatchObject({ word: 'ended' })
  expect(await apart.next(0)).toBe(null)

  one?.close()
  one?.close()
  expect(other?.isLast).toBe(true)
  other?.close()
  expect((await mailbox.expectShared('here', 'job 7')).id).not.toBe(one?.id)
})

test('waiters for the same thing all get the error of a rejected subscription', async () => {
  const { mailbox, confirm } = setup()
  confirm.fails = true
  const refused = await Promise.allSettled([1, 2].map(() => mailbox.expectShared('here', 'job 7')))
  expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected'])

  confirm.fails = false
  await expect(mailbox.expectShared('here', 'job 7')).resolves.toMatchObject({ isLast: true })
})

test('a refusal to waiters at several nodes counts for them alone', () => {
  const { mailbox } = setup()

  expect(mailbox.reopeningAt('a', 'b', 'a')).toBe(mailbox.reopeningAt('b', 'a'))
  expect(mailbox.reopeningAt('a', 'b')).not.toBe(mailbox.reopeningAt('a'))
  expect(mailbox.reopeningAt('a', 'a')).toBe(mailbox.reopeningAt('a'))
})
