import type { Attempt, Once } from 'perilune'
import { abandon } from '../../../src/generated/once.ts'
import { Unit } from '../../../src/runtime/connection/unit.ts'
import { notKnownOf, type Place, reaches, type Step, type Use, type Work } from './use.ts'

function steps({ redis, name }: Place): readonly Step[] {
  const once = redis.once<string>(name)
  let attempt: Attempt<string> | undefined
  let running: Promise<string> | undefined
  let finish: (result: string) => void = () => undefined
  const begin = async (key: string): Promise<string> => {
    const begun = await once.begin(key, { fingerprint: 'f' })
    if (begun.status === 'started') attempt = begun.attempt
    return begun.status
  }
  return [
    ['begin', 'refuses', () => begin('a')],
    ['begin', 'serves', () => begin('a')],
    ['extend', 'serves', async () => attempt?.extend('1m')],
    ['release', 'serves', async () => attempt?.release()],
    ['inspect', 'serves', async () => (await once.inspect('a')).state],
    ['begin', 'refuses', () => begin('a')],
    ['complete', 'serves', async () => void (await attempt?.complete('done'))],
    ['begin', 'serves', async () => ({ ...(await once.begin('a', { fingerprint: 'f' })), token: 0 })],
    ['begin', 'serves', async () => (await once.begin('a', { fingerprint: 'g' })).status],
    ['get', 'serves', async () => (await once.get('a'))?.result],
    ['complete', 'serves', () => notKnownOf(once.byToken.complete('a', 1, 'stale'))],
    [
      'begin',
      'refuses',
      async () => {
        let began = false
        const task = (): Promise<string> => {
          began = true
          return new Promise((resolve) => (finish = resolve))
        }
        running = once.run('b', task)
        await reaches(async () => began, running)
      },
    ],
    [
      'begin',
      'serves',
      async () => {
        const waiting = once.run('b', () => 'again', { wait: '20s' })
        finish('result')
        return Promise.all([running, waiting])
      },
    ],
    ['begin', 'refuses', async () => (await once.beginDetached('left', { id: 'left' })).status],
    ['abandon', 'serves', () => leave({ redis, name })],
    ['inspect', 'serves', async () => (await once.inspect('left')).state],
    // Whether there was something to forget, a repetition cannot know.
    ['clear', 'serves', async () => void (await once.clear('b'))],
    ['get', 'serves', async () => once.get('b')],
  ]
}

/** As of one who has begun, and got no answer. */
function leave({ redis, name }: Pick<Place, 'redis' | 'name'>): Promise<unknown> {
  const unit = new Unit(redis.runtime, { structure: 'once', name, unit: 'left', since: '6.2.0' })
  return unit.run(abandon, { id: 'left', token: 0, channel: unit.channel, sharded: unit.sharded })
}

async function attemptOf(once: Once<string>, key: string): Promise<Attempt<string>> {
  const begun = await once.begin(key)
  if (begun.status !== 'started') throw new Error(`it was ${begun.status}`)
  return begun.attempt
}

/** A key is independent of the others; only the size of one result grows. */
function work(
  what: string,
  [commands, elements]: [number, number],
  call: (once: Once<string>, attempt: Attempt<string>, result: string) => unknown,
): Work {
  const prepare: Work['prepare'] = async ({ redis, name }, size) => {
    const once = redis.once<string>(name)
    const attempt = await attemptOf(once, 'a')
    await (await attemptOf(once, 'finished')).complete('x'.repeat(size))
    return async () => call(once, attempt, 'x'.repeat(size))
  }
  return { what, commands, elements, prepare }
}

const works = [
  work('a begin', [6, 60], (once) => once.begin('b')),
  work('a begin of what is done', [4, 30], (once) => once.begin('finished')),
  work('a complete', [8, 50], (_once, attempt, result) => attempt.complete(result)),
  work('an extension', [6, 45], (_once, attempt) => attempt.extend('1m')),
  work('a release', [6, 45], (_once, attempt) => attempt.release()),
  work('an inspection', [4, 30], (once) => once.inspect('finished')),
]

export const use: Use = { steps, works }
