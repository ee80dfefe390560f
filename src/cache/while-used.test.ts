import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { WhileUsed } from './source.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

test('unused names are forgotten, except the newest ones and values retained until they are over', async () => {
  const named = new WhileUsed<{ readonly name: string }>()
  const open = (name: string): { readonly name: string } => {
    const value = { name }
    named.add(name, value)
    return value
  }
  const mine = open('mine')
  named.keep(open('kept'), () => false)
  named.keep(open('over'), () => true)
  named.keep(open('last'), () => false)
  for (let at = 0; at < 5000; at++) open(`${at}`)

  await expect
    .poll(() => {
      collect()
      return named.size
    })
    .toBe(1003)

  expect(named.find('mine')).toBe(mine)
  expect(named.find('kept')).toEqual({ name: 'kept' })
  expect(named.find('last')).toEqual({ name: 'last' })
  expect(named.find('over')).toBeUndefined()
  expect(named.find('4999')).toEqual({ name: '4999' })
  expect(named.find('0')).toBeUndefined()
})
