import { useQuery } from "../service/use-query.ts";
import { policiesQuery, trainingsQuery } from "../service/views.ts";
import { offeredPolicies } from "../words/policies.ts";

interface PolicySelectProps {
  readonly id: string;
  readonly value: string;
  readonly onChange: (policy: string) => void;
}

/** One of the policies that are known here, training runs among them. */
export function PolicySelect({ value, onChange, ...ids }: PolicySelectProps) {
  const { value: policies = [] } = useQuery(policiesQuery);
  const { value: runs = [] } = useQuery(trainingsQuery);
  const offered = offeredPolicies(policies, runs);
  return (
    <select {...ids} className="control w-full" value={value} onChange={(event) => onChange(event.target.value)}>
      {offered.map(({ group, options }) => (
        <optgroup key={group} label={group}>
          {options.map((option) => (
            <option key={option.id} value={option.id}>
              {option.title}, {option.about}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  );
}
