import React from "react";

export interface Props {
  title: string;
  items: string[];
}

/** Shows a list. */
export function List({ title, items }: Props) {
  return (
    <section>
      <h1>{title}</h1>
      {items.map((item) => <p key={item}>{item}</p>)}
    </section>
  );
}

export const Row: React.FC<Props> = ({ title }) => {
  const [open, setOpen] = React.useState(false);
  return <div onClick={() => setOpen(!open)}>{title}</div>;
};
