// The ids of instance types, smallest first.
export const instanceTypeIds = ['lite', 'basic', 'standard-1', 'standard-2', 'standard-4'] as const;
export type InstanceTypeId = (typeof instanceTypeIds)[number];
