// What the scripts of a release do not know yet does not keep them from taking turns with those of this tree.

import { afterAll, expect, inject, test } from 'vitest'
import type { Contract, ContractOperation, RunnableOperation } from '../../src/testing/vector-contract.ts'
import type { VectorFile } from '../../src/testing/vector-file.ts'
import { playVector } from '../../src/testing/vector-player.ts'
import { onServer } from '../conformance/places.ts'
import { readableContract } from '../readable-scripts.ts'

const place = onServer(inject('redisPort'))
afterAll(() => place.close())

const current: Contract = readableContract('catalog')
const put = current.operations['catalog/put'] as RunnableOperation
const steps = [
  { call: 'catalog/put', with: { name: 'a' }, answer: ['created', '$us'] },
  { call: 'catalog/put', with: { name: 'a' }, answer: ['existed', '$us', 'd'] },
  { call: 'catalog/get', with: { name: 'a' }, answer: ['found', '$us', 'd'] },
  { call: 'catalog/get', with: { name: 'b' }, answer: ['absent'] },
]
const file: VectorFile = {
  structure: 'catalog',
  defaults: { 'catalog/put': { document: 'd' } },
  vectors: [{ it: 'keeps a document', steps }],
}

/** The current contract, as it might have been before something was added. */
function without(name: string, older?: Partial<ContractOperation>): Contract {
  const { [name]: operation, ...others } = current.operations
  if (operation === undefined) throw new Error(`the contract has no ${name}`)
  const operations = older === undefined ? others : { ...others, [name]: { ...operation, ...older } }
  return { ...current, operations }
}

const sourceWithDefault = put.source.replace('local document = ARGV[2]', "local document = 'd'")
const olds: Record<string, Contract> = {
  'an operation that it does not have': without('catalog/get'),
  'an argument that it does not take': without('catalog/put', {
    arguments: put.arguments.filter(({ name }) => name !== 'document'),
    source: sourceWithDefault,
  }),
  'a value that it does not answer': without('catalog/put', {
    answers: { ...put.answers, existed: [] },
  }),
}

test.each(Object.entries(olds))('%s is left to this tree', async (_, old) => {
  for (const contracts of [[old, current] as const, [current, old] as const]) {
    await playVector({ ...place, contracts: [...contracts] }, file, file.vectors[0] ?? expect.fail())
  }
})

test('without a contract that knows it, a step fails', async () => {
  const old = without('catalog/get')

  const played = playVector({ ...place, contracts: [old] }, file, file.vectors[0] ?? expect.fail())

  await expect(played).rejects.toThrow('the contract has no catalog/get')
})
