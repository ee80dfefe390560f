import { expect, test } from 'vitest'
import { DriverError } from '../errors/errors.ts'
import { type AskedAll, InTurn, PATIENCE_MS } from './in-turn.ts'

const DEADLINE_MS = 5000

interface Answer {
  readonly promise: Promise<string>
  give(value: string): void
}

function answer(): Answer {
  let give: Answer['give'] = () => undefined
  const promise = new Promise<string>((resolve) => {
    give = resolve
  })
  return { promise, give: (value) => give(value) }
}

/** Asks three parts, of which `b` is silent; `enough` answers are wanted. */
function setup(enough: number) {
  const inTurn = new InTurn(['a', 'b', 'c'], DEADLINE_MS)
  const silent = answer()
  const asked: string[] = []
  const taken: string[] = []
  const late: string[] = []
  const ask = (parts = ['a', 'b', 'c'], comesAgain = false): Promise<AskedAll> =>
    inTurn.askAll(parts, {
      ask: (part) => {
        asked.push(part)
        return part === 'b' ? silent.promise : Promise.resolve(part)
      },
      take: (value) => void taken.push(value),
      giveBack: async (value) => void late.push(value),
      hasEnough: () => taken.length >= enough,
      comesAgain,
    })
  return { inTurn, silent, asked, taken, late, ask }
}

test('each round begins with another part', () => {
  const { inTurn } = setup(1)
  const firsts = [inTurn.next(), inTurn.next(), inTurn.next()].map(([first]) => first)

  expect(new Set(firsts)).toEqual(new Set(['a', 'b', 'c']))
})

test('a silent part does not block the others, comes last, and its late answer is given back', async () => {
  const { inTurn, silent, asked, taken, late, ask } = setup(1)
  await ask()
  expect([asked, taken]).toEqual([
    ['a', 'b', 'c'],
    ['a', 'c'],
  ])

  expect([inTurn.next(), inTurn.next(), inTurn.next()].map((parts) => parts.at(-1))).toEqual(['b', 'b', 'b'])
  asked.length = 0
  await ask(inTurn.next())
  expect(asked).not.toContain('b')

  silent.give('late')
  await expect.poll(() => late).toEqual(['late'])
  expect(inTurn.next().concat(inTurn.next()).lastIndexOf('b')).not.toBe(-1)
  await ask()
  expect(asked).toContain('b')
})

test('a silent part is waited for when the others have too little', async () => {
  const { silent, taken, late, ask } = setup(3)
  const asking = ask()
  await expect.poll(() => taken).toEqual(['a', 'c'])

  silent.give('at last')

  await asking
  expect([taken, late]).toEqual([['a', 'c', 'at last'], []])
})

test('a caller that polls again skips a silent part when others have answered', async () => {
  const { inTurn, silent, asked, taken, late, ask } = setup(9)

  expect(await ask(['a', 'b', 'c'], true)).toEqual({ failures: [], isWhole: false })
  expect(await ask(inTurn.next(), true)).toEqual({ failures: [], isWhole: false })

  expect([asked.filter((part) => part === 'b'), taken.length]).toEqual([['b'], 4])
  silent.give('late')
  await expect.poll(() => late).toEqual(['late'])
  expect(await ask(inTurn.next(), true)).toEqual({ failures: [], isWhole: true })
})

test('a caller that polls again waits the next time for a part that is always slow', async () => {
  const inTurn = new InTurn(['quick', 'slow'], DEADLINE_MS)
  const { silent, taken, late } = setup(9)
  const ask = (slow: Promise<string>): Promise<AskedAll> =>
    inTurn.askAll(['quick', 'slow'], {
      ask: (part) => (part === 'slow' ? slow : Promise.resolve(part)),
      take: (value) => void taken.push(value),
      giveBack: async (value) => void late.push(value),
      hasEnough: () => false,
      comesAgain: true,
    })
  expect(await ask(silent.promise)).toMatchObject({ isWhole: false })
  silent.give('late')
  await expect.poll(() => late).toEqual(['late'])

  const slow = new Promise<string>((resolve) => setTimeout(resolve, 2 * PATIENCE_MS + 200, 'slow'))
  expect(await ask(slow)).toEqual({ failures: [], isWhole: true })

  expect(taken).toEqual(['quick', 'quick', 'slow'])
})

/** Asks two parts for all of their items. */
async function askTwo(ask: (part: string) => Promise<string>, comesAgain: boolean) {
  const taken: string[] = []
  const parts = ['a', 'b']
  const { failures, isWhole } = await new InTurn(parts, DEADLINE_MS).askAll(parts, {
    ask,
    take: (value) => void taken.push(value),
    giveBack: async () => undefined,
    hasEnough: () => false,
    comesAgain,
  })
  return { taken, failures, isWhole }
}

test('when all parts are slow, none is silent', async () => {
  const slowly = (part: string): Promise<string> =>
    new Promise((resolve) => setTimeout(resolve, PATIENCE_MS + 200, part))

  expect(await askTwo(slowly, true)).toEqual({ taken: ['a', 'b'], failures: [], isWhole: true })
})

const away = new DriverError('unreachable', 'no server answered')
const odd = new Error('odd')

test.each([
  ['an outage', away, false, [away]],
  ['an outage, except to a caller that polls again,', away, true, []],
  ['anything else', odd, true, [odd]],
])('%s is reported, and ends nothing', async (_, error, comesAgain, failures) => {
  const ask = (part: string): Promise<string> =>
    part === 'a' ? Promise.reject(error) : Promise.resolve(part)

  expect(await askTwo(ask, comesAgain)).toEqual({ taken: ['b'], failures, isWhole: false })
})

test('a caller that polls again gets the errors when no part has answered', async () => {
  const { failures } = await askTwo(() => Promise.reject(away), true)

  expect(failures).toEqual([away, away])
})

/** Asks many parts, of which only the first ones answer. */
async function askSilent(answeredFirst: number) {
  const parts = Array.from({ length: 40 }, (_, at) => at)
  const deadlines: number[] = []
  const ask = (part: number, by: number): Promise<number> => {
    deadlines.push(by)
    if (part < answeredFirst) return Promise.resolve(part)
    return new Promise((_, reject) => setTimeout(reject, by - performance.now(), away))
  }
  const asked = await new InTurn(parts, 300).askAll(parts, {
    ask,
    take: () => new Promise((resolve) => setTimeout(resolve, 2)),
    giveBack: async () => undefined,
    hasEnough: () => false,
  })
  return { ...asked, deadlines }
}

test('silent parts share one deadline, and none is asked after it', async () => {
  const { failures, isWhole, deadlines } = await askSilent(0)

  expect(new Set(deadlines).size).toBe(1)
  expect(deadlines.length).toBeLessThan(40)
  expect([failures.length, isWhole]).toEqual([deadlines.length, false])
})

test('the deadline restarts with each part that answers', async () => {
  const { deadlines } = await askSilent(3)

  expect(new Set(deadlines.slice(0, 4)).size).toBe(4)
  expect(new Set(deadlines).size).toBe(4)
})

test('after a stall of a whole deadline the other parts are still asked', async () => {
  const parts = ['quick', 'slow', 'last']
  const asked: string[] = []
  const standStill = (): void => {
    const until = performance.now() + 500
    while (performance.now() < until);
  }
  const ask = (part: string): Promise<string> => {
    asked.push(part)
    if (part !== 'slow') return Promise.resolve(part)
    // While it is awaited, before the next one is asked.
    setTimeout(standStill, 20)
    return new Promise((resolve) => setTimeout(() => resolve(part), 150))
  }

  const { failures, isWhole } = await new InTurn(parts, 300).askAll(parts, {
    ask,
    take: () => undefined,
    giveBack: async () => undefined,
    hasEnough: () => false,
  })

  expect(asked).toEqual(parts)
  expect([failures, isWhole]).toEqual([[], true])
})
