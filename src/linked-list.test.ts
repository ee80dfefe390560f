import { expect, test } from 'vitest'
import { type Linked, LinkedList } from './linked-list.ts'

interface Item extends Linked {
  readonly name: string
}

function setup(...names: string[]): { list: LinkedList<Item>; items: Item[]; names: () => string[] } {
  const list = new LinkedList<Item>()
  const items = names.map((name) => ({ name }))
  for (const item of items) list.add(item)
  return { list, items, names: () => [...list].map(({ name }) => name) }
}

test('items are in the order in which they came', () => {
  const { list, items, names } = setup('a', 'b', 'c')
  const [, second] = items as [Item, Item, Item]

  expect([list.delete(second), names(), list.size, list.has(second)]).toEqual([true, ['a', 'c'], 2, false])
  list.add(second)
  expect([names(), list.size, list.has(second)]).toEqual([['a', 'c', 'b'], 3, true])
})

test('one that is in stays where it is, and one that is not in cannot leave', () => {
  const { list, items, names } = setup('a', 'b')
  const [first] = items as [Item, Item]

  list.add(first)
  expect([names(), list.size]).toEqual([['a', 'b'], 2])
  expect([list.delete(first), list.delete(first), list.size]).toEqual([true, false, 1])
})

test('the first are those that came first, all where fewer are in', () => {
  const { list } = setup('a', 'b', 'c')

  expect(list.first(2).map(({ name }) => name)).toEqual(['a', 'b'])
  expect(list.first(9)).toHaveLength(3)
  expect(setup().list.first(1)).toEqual([])
})

test('while they are gone through, one that leaves is passed over, and one that comes waits for the next time', () => {
  const { list, items } = setup('a', 'b', 'c')
  const seen: string[] = []

  for (const item of list) {
    seen.push(item.name)
    if (item.name !== 'a') continue
    list.delete(item)
    list.delete(items[1] as Item)
    list.add({ name: 'd' })
  }

  expect(seen).toEqual(['a', 'c'])
  expect([...list].map(({ name }) => name)).toEqual(['c', 'd'])
})

test('what has left is linked to nothing', () => {
  const { list, items } = setup('a', 'b', 'c')
  for (const item of items) list.delete(item)

  expect(items).toEqual(['a', 'b', 'c'].map((name) => ({ name, previous: undefined, next: undefined })))
  expect([...list]).toEqual([])
})

test('as many as one likes come and go, as with a Set', () => {
  const { list, items, names } = setup(...Array.from({ length: 50 }, (_, at) => String(at)))
  const set = new Set(items)
  let seed = 7
  for (let step = 0; step < 5000; step += 1) {
    seed = (seed * 1103515245 + 12345) % 2147483648
    const item = items[seed % items.length] as Item
    if (seed % 3 === 0) {
      list.add(item)
      set.add(item)
    } else {
      expect(list.delete(item)).toBe(set.delete(item))
    }
  }

  expect([list.size, names()]).toEqual([set.size, [...set].map(({ name }) => name)])
})
