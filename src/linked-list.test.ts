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

test('items are in the order of their addition', () => {
  const { list, items, names } = setup('a', 'b', 'c')
  const [, second] = items as [Item, Item, Item]

  expect([list.delete(second), names(), list.size, list.has(second)]).toEqual([true, ['a', 'c'], 2, false])
  list.add(second)
  expect([names(), list.size, list.has(second)]).toEqual([['a', 'c', 'b'], 3, true])
})

test('an item in the list keeps its position, and one outside of it cannot be removed', () => {
  const { list, items, names } = setup('a', 'b')
  const [first] = items as [Item, Item]

  list.add(first)
  expect([names(), list.size]).toEqual([['a', 'b'], 2])
  expect([list.delete(first), list.delete(first), list.size]).toEqual([true, false, 1])
})

test('first returns the oldest items, or all when there are fewer', () => {
  const { list } = setup('a', 'b', 'c')

  expect(list.first(2).map(({ name }) => name)).toEqual(['a', 'b'])
  expect(list.first(9)).toHaveLength(3)
  expect(setup().list.first(1)).toEqual([])
})

test('an iteration skips removed items and excludes added ones', () => {
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

test('a removed item has no links', () => {
  const { list, items } = setup('a', 'b', 'c')
  for (const item of items) list.delete(item)

  expect(items).toEqual(['a', 'b', 'c'].map((name) => ({ name, previous: undefined, next: undefined })))
  expect([...list]).toEqual([])
})

test('the list behaves like a Set for many additions and removals', () => {
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
