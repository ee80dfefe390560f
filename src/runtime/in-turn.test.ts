import { expect, test } from 'vitest'
import { InTurn } from './in-turn.ts'

interface Answer {
  readonly promise: Promise<string>
  give(told: string): void
}

function answer(): Answer {
  let give: Answer['give'] = () => undefined
  const promise = new Promise<string>((resolve) => {
    give = resolve
  })
  return { promise, give: (told) => give(told) }
}

/** Asks three parts, of which `b` is silent; `enough` are wanted. */
function setup(enough: number) {
  const inTurn = new InTurn(['a', 'b', 'c'])
  const silent = answer()
  const asked: string[] = []
  const taken: string[] = []
  const late: string[] = []
  const failed: unknown[] = []
  const ask = (parts = ['a', 'b', 'c']): Promise<void> =>
    inTurn.askAll(parts, {
      ask: (part) => {
        asked.push(part)
        return part === 'b' ? silent.promise : Promise.resolve(part)
      },
      take: (told) => void taken.push(told),
      fail: (error) => failed.push(error),
      giveBack: async (told) => void late.push(told),
      hasEnough: () => taken.length >= enough,
    })
  return { inTurn, silent, asked, taken, late, failed, ask }
}

test('each turn begins with another part', () => {
  const { inTurn } = setup(1)
  const firsts = [inTurn.next(), inTurn.next(), inTurn.next()].map(([first]) => first)

  expect(new Set(firsts)).toEqual(new Set(['a', 'b', 'c']))
})

test('a silent part keeps nobody from the others, comes last, and what it tells late is given back', async () => {
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

test('a silent part is waited for where the others have not enough', async () => {
  const { silent, taken, late, ask } = setup(3)
  const asking = ask()
  await expect.poll(() => taken).toEqual(['a', 'c'])

  silent.give('at last')

  await asking
  expect([taken, late]).toEqual([['a', 'c', 'at last'], []])
})

test('what goes wrong is told, and ends nothing', async () => {
  const inTurn = new InTurn(['a', 'b'])
  const failed: unknown[] = []
  const taken: string[] = []
  await inTurn.askAll(['a', 'b'], {
    ask: (part) => (part === 'a' ? Promise.reject(new Error('a')) : Promise.resolve(part)),
    take: (told) => void taken.push(told),
    fail: (error) => failed.push(error),
    giveBack: async () => undefined,
    hasEnough: () => taken.length > 0,
  })

  expect([failed, taken]).toEqual([[new Error('a')], ['b']])
})
